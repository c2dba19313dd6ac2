import { afterAll, beforeAll, expect, test } from 'vitest';
import { runForgeries } from './support/forgeries/forgery-run.ts';
import { allForgeries } from './support/forgeries/kinds.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

/** For each kind: variants for the newest compiler, which other tests have loaded, as many as stay fast. */
const PER_KIND = 4;
const forgeries = allForgeries();
const kinds = [...new Set(forgeries.map(({ kind }) => kind))];

let verifying: VerifyingService;

describeWith([ANVIL], 'forgeries', () => {
  beforeAll(async () => {
    verifying = await startVerifyingService();
  });
  afterAll(() => verifying.close());

  test('include at least 200 variants', () => {
    expect(forgeries.length).toBeGreaterThanOrEqual(200);
    expect(new Set(forgeries.map(({ id }) => id)).size).toBe(forgeries.length);
  });

  test.each(kinds)('of kind %s are never published', async (kind) => {
    const ofKind = forgeries.filter((each) => each.kind === kind);
    const chosen = ofKind.filter((_, index) => index % Math.ceil(ofKind.length / PER_KIND) === 0);
    const { anvil, service, close } = verifying;
    const outcomes = await runForgeries({ ...service, anvil, close }, chosen);
    const published = outcomes.filter(({ outcome }) => outcome === 'published');
    expect(published.map(({ forgery, detail }) => `${forgery.id}: ${detail}`)).toEqual([]);
    expect(outcomes.some(({ outcome }) => outcome !== 'skipped')).toBe(true);
  });
});
