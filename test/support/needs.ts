import { afterAll, describe } from 'vitest';
import { findAnvil, NO_ANVIL } from './anvil.ts';
import { closeTabs, hasBrowser } from './browser.ts';

/** A requirement that not every machine meets. */
export interface Need {
  readonly isMet: () => boolean;
  /** Why a test is skipped without it. */
  readonly absence: string;
  /** Cleans up after the tests of a file, before their services are closed. */
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
  // An open page holds connections of its service.
  tidy: closeTabs,
};

/** Describes tests with requirements; they are skipped if one is not met, and the title then says which. */
export function describeWith(needs: readonly Need[], title: string, tests: () => void): void {
  const missing = needs.find(({ isMet }) => !isMet());
  describe.skipIf(missing !== undefined)(missing ? `${title} (${missing.absence})` : title, () => {
    tests();
    for (const { tidy } of needs) if (tidy !== undefined) afterAll(tidy);
  });
}
