import { afterAll, describe } from 'vitest';
import { findAnvil, NO_ANVIL } from './anvil.ts';
import { closeTabs, hasBrowser } from './browser.ts';

/** What some tests need that not every machine has. */
export interface Need {
  readonly isMet: () => boolean;
  /** Why a test is skipped without it. */
  readonly absence: string;
  /** Puts away what the tests of a file left, before what they began is closed. */
  readonly tidy?: () => Promise<void>;
}

export const ANVIL: Need = { isMet: () => findAnvil() !== undefined, absence: NO_ANVIL };
export const LINUX: Need = {
  isMet: () => process.platform === 'linux',
  absence: 'this is not Linux',
};
export const BROWSER: Need = {
  isMet: hasBrowser,
  absence: 'the Chromium of @sparticuz/chromium is for Linux on x64 and not here',
  // A page that is still open holds connections of its service.
  tidy: closeTabs,
};

/** Tests with needs; they are skipped where one of them is not met, and their title then says which. */
export function describeWith(needs: readonly Need[], title: string, tests: () => void): void {
  const missing = needs.find(({ isMet }) => !isMet());
  describe.skipIf(missing !== undefined)(missing ? `${title} (${missing.absence})` : title, () => {
    tests();
    for (const { tidy } of needs) if (tidy !== undefined) afterAll(tidy);
  });
}
