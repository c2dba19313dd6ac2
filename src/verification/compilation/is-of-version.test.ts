import { expect, test } from 'vitest';
import { isOfVersion } from './is-of-version.ts';

test.each([
  ['0.8.20+commit.a1b79de6', '0.8.20', true],
  ['0.8.20+commit.a1b79de6', '0.8.2', false],
  ['0.3.10+commit.91361694', '0.3.1', false],
  ['0.8.20+commit.a1b79de6', '0.8.21', false],
  ['0.8.21-nightly.2023.7.1+commit.0102', '0.8.21-nightly.2023.7.1+commit.0102', true],
  ['0.8.21-nightly.2023.7.18+commit.0102', '0.8.21-nightly.2023.7.1', false],
  ['0.8.21-nightly.2023.7.1+commit.0102.Linux.g++', '0.8.21-nightly.2023.7.1+commit.0102', true],
])('%s is of the version %s: %s', (longVersion, stated, is) => {
  expect(isOfVersion(longVersion, stated)).toBe(is);
});
