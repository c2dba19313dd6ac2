import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { BoundedProcess } from './bounded-process.ts';

const PROGRAM = path.join(import.meta.dirname, '../../../test/support/bounding-process.ts');

/** Lists the processes of a process group from /proc. */
async function listGroup(group: number): Promise<readonly number[]> {
  const members: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '');
    const [, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(processGroup) === group) members.push(Number(name));
  }
  return members;
}

describe.runIf(process.platform === 'linux')('Busy child process that reads nothing', () => {
  test.each(['isolated', 'alone'])(
    'is killed together with its parent (%s)',
    async (how) => {
      const parent = spawn(process.execPath, ['--import', 'tsx', PROGRAM, how], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [printed] = (await once(parent.stdout, 'data')) as [Buffer];
      const group = Number(printed.toString());
      expect(await listGroup(group)).toContain(group);
      parent.kill('SIGKILL');
      await expect.poll(() => listGroup(group)).toEqual([]);
    },
    60_000,
  );

  test('leaves no processes of its group after exiting', async () => {
    const bounded = new BoundedProcess({
      name: 'A shell',
      file: '/bin/sh',
      parameters: ['-c', 'read -r _; echo done'],
      directory: '/',
      limits: { residentBytes: 2 ** 30, dataBytes: 2 ** 31 },
      isolation: {},
    });
    bounded.output.resume();
    const group = bounded.pid ?? 0;
    expect(await listGroup(group)).toContain(group);
    bounded.input.end('\n');
    expect(await bounded.ended).toEqual({ exitCode: 0, signal: null });
    await expect.poll(() => listGroup(group)).toEqual([]);
  });
});
