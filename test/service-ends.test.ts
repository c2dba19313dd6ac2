import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { hasRunningServer } from '../src/store/embedded/embedded-server.ts';
import { findRunningServer } from '../src/store/embedded/lock-file.ts';
import {
  LOOPBACK_PORTS,
  PROGRAM,
  programEnvironment,
  runProgram,
  startProgram,
} from './support/booted-service.ts';
import { RawClient } from './support/raw-client.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { writeUsedData } from './support/used-data.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function dataFolder(): Promise<string> {
  const folder = await createTemporaryFolder();
  cleanUps.push(folder.remove);
  const dataDir = path.join(folder.path, 'data');
  await writeUsedData(dataDir);
  return dataDir;
}

describe('the embedded PostgreSQL', () => {
  test('is adopted by the next start after its service was killed, and stops with that one', async () => {
    const dataDir = await dataFolder();
    const environment = { FULLMATCH_DATA_DIR: dataDir };
    const killed = await startProgram({ environment });
    const server = await findRunningServer(path.join(dataDir, 'postgres'));
    killed.child.kill('SIGKILL');
    await killed.ended;
    const next = await startProgram({ environment });
    expect(await findRunningServer(path.join(dataDir, 'postgres'))).toEqual(server);
    expect(server).toBeDefined();
    next.child.kill('SIGTERM');
    expect(await next.ended).toBe(0);
    expect(await hasRunningServer(dataDir)).toBe(false);
  });

  test('is adopted after an unhandled signal ended its service during startup', async () => {
    const dataDir = await dataFolder();
    const environment = { ...LOOPBACK_PORTS, FULLMATCH_DATA_DIR: dataDir };
    const starting = runProgram(['start'], { environment });
    await expect.poll(() => hasRunningServer(dataDir)).toBe(true);
    starting.child.kill('SIGQUIT');
    await starting.ended;
    const next = await startProgram({ environment });
    next.child.kill('SIGTERM');
    expect(await next.ended).toBe(0);
    expect(await hasRunningServer(dataDir)).toBe(false);
  });

  test('is stopped when startup fails on a port in use', async () => {
    const dataDir = await dataFolder();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    cleanUps.push(async () => taken.close());
    const { port } = taken.address() as { port: number };
    const environment = {
      ...LOOPBACK_PORTS,

      FULLMATCH_API_PORT: String(port),
      FULLMATCH_DATA_DIR: dataDir,
    };
    const run = runProgram(['start'], { environment });
    expect(await run.ended).toBe(1);
    expect(run.stderr()).toContain('error[port_unavailable]');
    expect(await hasRunningServer(dataDir)).toBe(false);
  });

  test('is stopped cleanly by the two signals of a Ctrl-C under npm', async () => {
    const dataDir = await dataFolder();
    const child = spawn(process.execPath, [PROGRAM, 'start'], {
      env: programEnvironment({ ...LOOPBACK_PORTS, FULLMATCH_DATA_DIR: dataDir }),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    await expect.poll(() => output).toContain('"event":"ready"');
    const group = -(child.pid ?? 0);
    const ended = once(child, 'exit');
    process.kill(group, 'SIGINT');
    child.kill('SIGINT');
    const [code] = (await ended) as [number | null];
    expect(code).toBe(0);
    await expect.poll(() => output).toContain('"event":"stopped"');
    expect(await hasRunningServer(dataDir)).toBe(false);
  });
});

describe('a service', () => {
  test('exits on SIGTERM, closing its port and idle connections', async () => {
    const service = await startProgram({
      environment: { FULLMATCH_DATA_DIR: await dataFolder() },
    });
    const client = await RawClient.connect(Number(new URL(service.apiUrl).port));
    client.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await client.answer()).status).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    await client.end();
    expect(client.error).toBeUndefined();
    await expect(fetch(service.apiUrl)).rejects.toThrow();
  });

  test('exits cleanly together with its npx', async () => {
    const dataDir = await dataFolder();
    const command = `"${process.execPath}" "${PROGRAM}" start`;
    // A shell in between that does not forward signals to its child.
    const child = spawn('npm', ['exec', '--offline', '-c', `${command}; exit $?`], {
      cwd: path.dirname(dataDir),
      env: programEnvironment({
        ...LOOPBACK_PORTS,
        HOME: path.dirname(dataDir),
        FULLMATCH_DATA_DIR: dataDir,
      }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    await expect.poll(() => output).toContain('"event":"ready"');
    // The pipe closes once the last process that writes to it has exited.
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    await closed;
    expect(output).toContain('"event":"stopped"');
    expect(await hasRunningServer(dataDir)).toBe(false);
  });
});
