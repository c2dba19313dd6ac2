import { expect, test } from 'vitest';
import { stubDatabase } from '../../../test/support/gate.ts';
import { silentLogger } from '../../log.ts';
import { type Database } from '../../store/database.ts';
import { startRecheckWalk } from './recheck-walk.ts';

const ADD = 'add chains to recheck';
const TAKE = 'take next contract to recheck';

/** A walk that holds at one statement; gives the statements that ran until it was closed there. */
async function closeAt(label: string): Promise<readonly string[]> {
  const due = [{ chain_id: '7', address: Buffer.alloc(20, 1) }];
  const stub = stubDatabase(label, (each) => (each === TAKE ? due : []));
  const parts = { findSupportedChain: () => ({ record: { chainId: 7 } }) };
  const walk = startRecheckWalk(
    stub as unknown as Database,
    parts as unknown as Parameters<typeof startRecheckWalk>[1],
    () => [7],
    { perHour: 1 },
    silentLogger,
  );
  await stub.closeWhileHeld(() => walk.close());
  return stub.ran;
}

test('a walk that ends takes no contract any more', async () => {
  expect(await closeAt(ADD)).toEqual([ADD]);
});

test('a contract that was being taken while the walk ends is not looked at', async () => {
  expect(await closeAt(TAKE)).toEqual([ADD, TAKE]);
});
