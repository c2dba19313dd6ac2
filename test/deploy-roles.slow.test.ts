// The two roles of deploy/compose.scaled.yaml as processes. The files in deploy/ are checked in
// deploy.test.ts.
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { startProgram, type ProgramRun } from './support/booted-service.ts';
import { startRpcServer } from './support/rpc-server.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase } from './support/test-database.ts';

const COMPOSE = new URL('../deploy/compose.scaled.yaml', import.meta.url);

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly environment?: Readonly<Record<string, string>>;
        readonly healthcheck?: { readonly test: readonly string[] };
      }
    >
  >;
}

describe('hosts and a worker configured as in compose.scaled.yaml', () => {
  test('share a database: the worker runs the jobs that the hosts accept', async () => {
    const { services } = parse(await readFile(COMPOSE, 'utf8'), { merge: true }) as Compose;
    const folder = await createTemporaryFolder();
    onTestFinished(folder.remove);
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const node = await startRpcServer({ eth_chainId: () => '0x7a69', eth_getCode: () => '0x' });
    onTestFinished(node.close);
    await writeFile(
      path.join(folder.path, 'fullmatch.yaml'),
      `chains: { 31337: { local: true, rpc: ["${node.url}"] } }\nhealth: { enabled: false }\n`,
    );
    const stop = async ({ child, ended }: Pick<ProgramRun, 'child' | 'ended'>) => {
      child.kill('SIGTERM');
      await ended;
    };
    const start = async (service: string) => {
      const program = await startProgram({
        workingDirectory: folder.path,
        environment: {
          ...services[service]?.environment,
          DATABASE_URL: database.url,
          FULLMATCH_METRICS_PORT: '0',
        },
      });
      onTestFinished(() => stop(program));
      return program;
    };
    const hosts = await start('hosts');
    const submitted = await fetch(`${hosts.apiUrl}/v2/verify/31337/0x${'11'.repeat(20)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        stdJsonInput: {
          language: 'Solidity',
          sources: { 'a.sol': { content: 'contract A {}' } },
          settings: {},
        },
        compilerVersion: '0.8.37',
        contractIdentifier: 'a.sol:A',
      }),
    });
    expect(submitted.status).toBe(202);
    const { verificationId } = (await submitted.json()) as { verificationId: string };
    const look = async () => {
      const response = await fetch(`${hosts.apiUrl}/v2/verify/${verificationId}`);
      return (await response.json()) as { isJobCompleted: boolean };
    };
    expect(await look()).toMatchObject({ isJobCompleted: false });
    await start('worker');
    await expect.poll(look).toMatchObject({ isJobCompleted: true });
    const health = services['hosts']?.healthcheck?.test.at(-1) ?? '';
    const ask = (port: string) =>
      spawnSync(process.execPath, ['--eval', health.replace('5555', port)]).status;
    expect(ask(new URL(hosts.apiUrl).port)).toBe(0);
    await stop(hosts);
    expect(ask(new URL(hosts.apiUrl).port)).toBe(1);
  });
});
