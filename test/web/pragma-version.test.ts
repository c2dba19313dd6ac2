import { describe, expect, test } from 'vitest';
import { satisfiesRange, newestSatisfying } from '../../web/src/verify/pragma-version.ts';

describe('Pragma', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['^0.8.4', ['0.8.4', '0.8.30'], ['0.8.3', '0.9.0', '0.7.6']],
    ['0.8.20', ['0.8.20', '0.8.20+commit.a1b79de6'], ['0.8.19', '0.8.21']],
    ['>=0.4.22 <0.9.0', ['0.4.22', '0.8.37'], ['0.4.21', '0.9.0']],
    ['>= 0.5.0 < 0.6.0', ['0.5.17'], ['0.6.0']],
    ['~0.7.1', ['0.7.1', '0.7.6'], ['0.8.0', '0.7.0']],
    ['^0.5.0 || ^0.6.0', ['0.5.3', '0.6.12'], ['0.7.0']],
    ['>0.8.0 <=0.8.2', ['0.8.1', '0.8.2'], ['0.8.0', '0.8.3']],
    ['0.8', ['0.8.0', '0.8.30'], ['0.7.6']],
    ['0.8.*', ['0.8.9'], ['0.9.0']],
  ])('%s matches the expected versions', (range, inside, outside) => {
    for (const version of inside)
      expect([version, satisfiesRange(version, range)]).toEqual([version, true]);
    for (const version of outside) {
      expect([version, satisfiesRange(version, range)]).toEqual([version, false]);
    }
  });

  test('that cannot be parsed neither allows nor forbids', () => {
    expect(satisfiesRange('0.8.30', 'latest')).toBeUndefined();
    expect(satisfiesRange('nightly', '^0.8.0')).toBeUndefined();
  });

  test('of several sources selects the newest version allowed by all', () => {
    const known = ['0.8.9+commit.e5eed63a', '0.8.30+commit.73712a01', '0.8.20+commit.a1b79de6'];
    expect(newestSatisfying(known, ['^0.8.0', '<=0.8.20'])).toBe('0.8.20+commit.a1b79de6');
    expect(newestSatisfying(known, ['^0.7.0'])).toBeUndefined();
  });
});
