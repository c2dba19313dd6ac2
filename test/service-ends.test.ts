import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { hasRunningServer } from '../src/store/embedded/embedded-server.ts';
import { acceptorProcesses } from './support/acceptor-processes.ts';
import { PROGRAM, LOOPBACK_PORTS, runProgram, startProgram } from './support/booted-service.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';

/** Two thousand chains would be read and compressed for each start, and none of them is asked for. */
const FEW_CHAINS = {
  FULLMATCH_REGISTRY_INCLUDE: 'configured',
  FULLMATCH_REGISTRY_DEFAULTS: 'false',
};

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function dataFolder(): Promise<string> {
  const folder = await createTemporaryFolder();
  cleanUps.push(folder.remove);
  return path.join(folder.path, 'data');
}

describe('the embedded PostgreSQL', () => {
  test('is gone soon after its service was killed', async () => {
    const dataDir = await dataFolder();
    const service = await startProgram({
      environment: { ...FEW_CHAINS, FULLMATCH_DATA_DIR: dataDir },
    });
    expect(await hasRunningServer(dataDir)).toBe(true);
    // A connection is on its way to it when it is killed.
    service.child.kill('SIGSTOP');
    const dial = async (): Promise<boolean> => {
      const socket = connect(Number(new URL(service.apiUrl).port), '127.0.0.1');
      socket.on('error', () => undefined);
      cleanUps.push(async () => void socket.destroy());
      return Promise.race([
        once(socket, 'connect').then(() => true),
        once(socket, 'close').then(() => false),
      ]).catch(() => false);
    };
    expect(await dial()).toBe(true);
    service.child.kill('SIGKILL');
    await service.ended;
    await expect.poll(() => hasRunningServer(dataDir)).toBe(false);
    // Nor is the process left that accepts its connections.
    await expect.poll(dial).toBe(false);
  });

  test('is gone soon after a signal that nobody handles ended its service in the middle of the start', async () => {
    const dataDir = await dataFolder();
    const environment = { ...LOOPBACK_PORTS, ...FEW_CHAINS, FULLMATCH_DATA_DIR: dataDir };
    const starting = runProgram(['start'], { environment });
    await expect.poll(() => hasRunningServer(dataDir)).toBe(true);
    starting.child.kill('SIGQUIT');
    await starting.ended;
    await expect.poll(() => hasRunningServer(dataDir)).toBe(false);
  });

  test('is stopped when the start fails, because a port is taken', async () => {
    const dataDir = await dataFolder();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    cleanUps.push(async () => taken.close());
    const { port } = taken.address() as { port: number };
    const environment = {
      ...LOOPBACK_PORTS,
      ...FEW_CHAINS,
      FULLMATCH_API_PORT: String(port),
      FULLMATCH_DATA_DIR: dataDir,
    };
    const run = runProgram(['start'], { environment });
    expect(await run.ended).toBe(1);
    expect(run.stderr()).toContain('error[port_unavailable]');
    expect(await hasRunningServer(dataDir)).toBe(false);
  });

  test('is stopped in order by the two signals that a Ctrl-C below npm makes', async () => {
    const dataDir = await dataFolder();
    const child = spawn(process.execPath, [PROGRAM, 'start'], {
      env: {
        PATH: process.env['PATH'],
        ...LOOPBACK_PORTS,
        ...FEW_CHAINS,
        FULLMATCH_DATA_DIR: dataDir,
      },
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

test('a service ends in time that is told to end just after its acceptor was lost', async () => {
  const service = await startProgram({
    environment: { ...FEW_CHAINS, FULLMATCH_DATA_DIR: await dataFolder() },
  });
  const [acceptor = 0] = await acceptorProcesses(service.child.pid);
  process.kill(acceptor, 'SIGKILL');
  await expect.poll(() => acceptorProcesses(service.child.pid)).not.toContain(acceptor);
  service.child.kill('SIGTERM');
  const start = performance.now();
  expect(await service.ended).toBe(0);
  expect(performance.now() - start).toBeLessThan(10_000);
});
