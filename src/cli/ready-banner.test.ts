import { expect, test } from 'vitest';
import { describeReadiness } from './ready-banner.ts';

const statistics = {
  ...{ chains: 1, full: 1_200, partial: 34 },
  ...{ lastModified: new Date(0), confirmedAt: new Date(0) },
};

test.each([
  [{ full: 0, partial: 0 }, '1,234 verified contracts'],
  [{ full: 1_000, partial: 4 }, '230 verified contracts, and 1,004 claimed by other services'],
  // The statistics have not counted all of them yet.
  [undefined, '1,234 contracts'],
])('the start calls no claim verified: of which %j', (claims, text) => {
  const lines = describeReadiness(
    { repositoryUrl: 'http://127.0.0.1:10000' },
    { statistics, claims },
  );
  expect(lines.find((line) => line.includes('stats.json'))).toMatch(new RegExp(`  ${text}$`));
});
