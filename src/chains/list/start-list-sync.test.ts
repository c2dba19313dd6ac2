import { expect, test } from 'vitest';
import { Gate } from '../../../test/support/gate.ts';
import { silentLogger } from '../../log.ts';
import { type ListSyncParts, startListSync } from './start-list-sync.ts';

const READ = 'read sync of chain list';
const CLAIM = 'claim sync of chain list';
const RELEASE = 'release sync of chain list';

/** A sync that holds at one statement; gives the statements that ran until it was closed there. */
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
    return statement.label === CLAIM ? [{}] : [];
  };
  const database = { query, listen: async () => async () => undefined };
  const sync = await startListSync(
    { database, served: {} } as unknown as ListSyncParts,
    ['https://lists.example/chains.json'],
    { everyMs: 3_600_000 },
    silentLogger,
  );
  await reached.opened;
  const closing = sync.close();
  gate.open();
  await closing;
  return ran;
}

test('a sync that ends claims no attempt any more', async () => {
  expect(await closeAt(READ)).toEqual([READ]);
});

test('an attempt that was being claimed while the sync ends is given back, and no source is asked', async () => {
  expect(await closeAt(CLAIM)).toEqual([READ, CLAIM, RELEASE]);
});
