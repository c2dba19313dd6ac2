import { expect, test } from 'vitest';
import { Gate } from '../../../test/support/gate.ts';
import { silentLogger } from '../../log.ts';
import { type Database } from '../../store/database.ts';
import { startRecheckWalk } from './recheck-walk.ts';

const ADD = 'add chains to recheck';
const TAKE = 'take next contract to recheck';

/** A walk that holds at one statement; gives the statements that ran until it was closed there. */
async function closeAt(label: string): Promise<readonly string[]> {
  const reached = new Gate();
  const gate = new Gate();
  const ran: string[] = [];
  const query = async (statement: { readonly label: string }): Promise<readonly object[]> => {
    ran.push(statement.label);
    if (statement.label === label) {
      reached.open();
      await gate.opened;
    }
    return statement.label === TAKE ? [{ chain_id: '7', address: Buffer.alloc(20, 1) }] : [];
  };
  const parts = { findSupportedChain: () => ({ record: { chainId: 7 } }) };
  const walk = startRecheckWalk(
    { query } as unknown as Database,
    parts as unknown as Parameters<typeof startRecheckWalk>[1],
    () => [7],
    { perHour: 1 },
    silentLogger,
  );
  await reached.opened;
  const closing = walk.close();
  gate.open();
  await closing;
  return ran;
}

test('a walk that ends takes no contract any more', async () => {
  expect(await closeAt(ADD)).toEqual([ADD]);
});

test('a contract that was being taken while the walk ends is not looked at', async () => {
  expect(await closeAt(TAKE)).toEqual([ADD, TAKE]);
});
