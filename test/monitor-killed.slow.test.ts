// A monitor whose process is killed loses and repeats nothing. The operator's view: monitor-command.test.ts.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { configOf, startAnvil, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { type ProgramRun, startProgram } from './support/booted-service.ts';
import { readCursor, readStored } from './support/monitored-chain.ts';
import {
  compileMonitoredContracts,
  CREATION_KINDS,
  readTrueCreations,
  sendCreation,
} from './support/monitored-contracts.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase } from './support/test-database.ts';

describeWith([ANVIL], 'the monitor with a killed process', () => {
  test('stores every creation of the chain once, although its process was killed between blocks', async () => {
    const [testDatabase, anvil, folder, contracts] = await Promise.all([
      createTestDatabase(),
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      createTemporaryFolder(),
      compileMonitoredContracts(),
    ]);
    onTestFinished(async () => {
      await anvil.stop();
      await testDatabase.drop();
      await folder.remove();
    });
    const yaml = configOf(anvil, '    monitor: { from: 0 }\nmonitor: { gateways: [] }\n');
    await writeFile(path.join(folder.path, 'fullmatch.yaml'), yaml);
    const runs: ProgramRun[] = [];
    const start = async (): Promise<ProgramRun> => {
      const run = await startProgram({
        environment: { DATABASE_URL: testDatabase.url },
        workingDirectory: folder.path,
      });
      runs.push(run);
      return run;
    };
    const kill = async (run: ProgramRun): Promise<void> => {
      run.child.kill('SIGKILL');
      await run.ended;
    };
    onTestFinished(async () => {
      await Promise.all(runs.map(kill));
    });
    const { contractAddress: factory } = await anvil.send({ data: `0x${contracts.Factory}` });
    const create = async (from: number, count: number): Promise<void> => {
      let sent: Hex | undefined;
      for (let value = from; value < from + count; value += 1) {
        const kind = CREATION_KINDS[value % CREATION_KINDS.length] ?? 'plain';
        sent = await sendCreation(anvil, contracts, factory ?? '0x', kind, value);
      }
      // They are mined in order, each shortly after it was sent.
      await expect.poll(() => anvil.request('eth_getTransactionReceipt', [sent])).not.toBeNull();
    };
    const first = await start();
    await create(0, 12);
    await expect
      .poll(() => readCursor(testDatabase.database, VERIFIED_CHAIN_ID))
      .toBeGreaterThan(0);
    await create(12, 12);
    await kill(first);
    await create(24, 12);
    await start();
    await create(36, 12);
    const last = Number(await anvil.request<Hex>('eth_blockNumber'));
    await expect.poll(() => readCursor(testDatabase.database, VERIFIED_CHAIN_ID)).toBe(last);
    const truth = await readTrueCreations(anvil, 0, last);
    const stored = await readStored(testDatabase.database, VERIFIED_CHAIN_ID);
    expect([...stored].sort()).toEqual([...truth].sort());
    const gaps = await runInProcess(['monitor', 'gaps'], {
      environment: { DATABASE_URL: testDatabase.url },
      workingDirectory: folder.path,
    });
    expect(gaps).toEqual({ exitCode: 0, stdout: 'none\n', stderr: '' });
  });
});
