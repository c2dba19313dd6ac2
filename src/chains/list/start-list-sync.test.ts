import { expect, test } from 'vitest';
import { stubDatabase } from '../../../test/support/gate.ts';
import { silentLogger } from '../../log.ts';
import { type ListSyncDependencies, startListSync } from './start-list-sync.ts';

const READ = 'read sync of chain list';
const CLAIM = 'claim sync of chain list';
const RELEASE = 'release sync of chain list';

/** A sync that blocks at one statement; returns the statements that ran until it was closed there. */
async function closeAt(label: string): Promise<readonly string[]> {
  const stub = stubDatabase(label, (each) => (each === CLAIM ? [{}] : []));
  const database = { query: stub.query, listen: async () => async () => undefined };
  const sync = await startListSync(
    { database, served: {} } as unknown as ListSyncDependencies,
    ['https://lists.example/chains.json'],
    { everyMs: 3_600_000 },
    silentLogger,
  );
  await stub.closeWhileHeld(() => sync.close());
  return stub.ran;
}

test('a closing sync claims no further attempt', async () => {
  expect(await closeAt(READ)).toEqual([READ]);
});

test('an attempt claimed during shutdown is released without contacting a source', async () => {
  expect(await closeAt(CLAIM)).toEqual([READ, CLAIM, RELEASE]);
});
