import { expect, test } from 'vitest';
import { Gate } from '../../../test/support/gate.ts';
import { type ExplorerVerifier } from '../../chains/explorer/explorer-verifier.ts';
import { silentLogger } from '../../log.ts';
import { type ContractReader } from '../../repository/repository.ts';
import { type Database } from '../../store/database.ts';
import { startForwarding } from './forward-walk.ts';

const TAKE = 'take due external verification';
const HAND_BACK = 'hand external verification back';
const DUE = {
  ...{ job_id: 'job', explorer: 'etherscan', state: 'submitted', external_id: 'id', attempts: 3 },
  ...{ chain_id: '7', address: Buffer.alloc(20, 1) },
};

test('hands back a match claimed during shutdown without contacting the explorer', async () => {
  const reached = new Gate();
  const gate = new Gate();
  const ran: unknown[] = [];
  const query: Database['query'] = async ({ label }, values) => {
    ran.push(label === HAND_BACK ? [label, ...(values ?? [])] : label);
    if (label !== TAKE) return [];
    reached.open();
    await gate.opened;
    return [DUE] as never[];
  };
  let asked = 0;
  const walk = start(query, async () => {
    asked += 1;
    return { kind: 'pending' };
  });
  await reached.opened;
  const closing = walk.close();
  gate.open();
  await closing;
  expect(asked).toBe(0);
  expect(ran).toEqual([TAKE, [HAND_BACK, 'job', 'etherscan', 3]]);
});

test('shuts down despite an unresponsive explorer', async () => {
  const asked = new Gate();
  const ran: string[] = [];
  const query: Database['query'] = async ({ label }) => {
    ran.push(label);
    return (label === TAKE ? [DUE] : []) as never[];
  };
  const walk = start(query, (_explorer, _chainId, _id, signal) => {
    asked.open();
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  });
  await asked.opened;
  await walk.close();
  expect(ran).toEqual([TAKE, HAND_BACK]);
});

function start(
  query: Database['query'],
  check: ExplorerVerifier['check'],
): ReturnType<typeof startForwarding> {
  const explorers: Pick<ExplorerVerifier, 'explorersOf' | 'check'> = {
    explorersOf: () => ['etherscan'],
    check,
  };
  return startForwarding(
    { query } as unknown as Database,
    {} as ContractReader,
    explorers as ExplorerVerifier,
    silentLogger,
  );
}
