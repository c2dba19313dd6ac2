import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type SsrfReport } from './support/ssrf-report.ts';

/** Every IPv4 and IPv6 address is this machine, so whatever passes the guard reaches the canary. */
const ISOLATE =
  'ip link set lo up && ip route add local 0.0.0.0/0 dev lo && ' +
  '{ ip -6 route add local ::/0 dev lo || true; } && exec "$@"';
const inNamespace = ['unshare', '--net', 'sh', '-c', ISOLATE, 'sh'];

const isolates =
  process.platform === 'linux' &&
  spawnSync(inNamespace[0]!, [...inNamespace.slice(1), 'true']).status === 0;
const program = [
  process.execPath,
  '--import',
  'tsx',
  join(import.meta.dirname, 'support/ssrf-process.ts'),
  ...(isolates ? ['isolated'] : []),
];

describe(`forbidden URLs${isolates ? ', where every address is the canary' : ''}`, () => {
  let report: SsrfReport;

  beforeAll(() => {
    const [command, ...rest] = [...(isolates ? inNamespace : []), ...program];
    const ran = spawnSync(command!, rest, { encoding: 'utf8', maxBuffer: 2 ** 26 });
    if (ran.status !== 0) throw new Error(ran.stderr);
    report = JSON.parse(ran.stdout) as SsrfReport;
  });

  test('are never requested by any of the code paths', () => {
    const ways = new Set(report.outcomes.map(({ way }) => way));
    expect(ways.size).toBe(isolates ? 8 : 4);
    expect(report.outcomes.length).toBeGreaterThanOrEqual(120 * ways.size);
    expect(report.outcomes.filter(({ outcome }) => outcome === 'answered')).toEqual([]);
    expect(report.hits).toEqual([]);
  });

  test.skipIf(!isolates)(
    'are distinguished from public ones, which every code path reaches',
    () => {
      expect(report.control.filter((reached) => reached === 'reached')).toHaveLength(
        report.control.length,
      );
      expect(report.control.length).toBeGreaterThan(0);
    },
  );

  test.skipIf(!isolates)('stay rejected after DNS rebinding', () => {
    expect(report.rebinding).toEqual(['answered', 'address_not_allowed', 'answered']);
  });
});
