/**
 * Imports a tree like `fullmatch import`, and prints `chainId address` of each contract the moment that its
 * transaction has committed: what stands on standard output is acknowledged. For tests that kill it.
 * Arguments: the data directory, the tree.
 */
import { importRepository } from '../../src/importer/import-repository.ts';
import { silentLogger } from '../../src/log.ts';
import { type Database, type Queryable } from '../../src/store/database.ts';
import { openStore } from '../../src/store/open-store.ts';

const [, , dataDir = '', tree = ''] = process.argv;
const store = await openStore({ poolSize: 2, dataDir }, silentLogger);
const { database } = store;

const acknowledging: Database = {
  query: (statement, values) => database.query(statement, values),
  limited: (timeLimitMs) => database.limited(timeLimitMs),
  listen: (channel, onNotify) => database.listen(channel, onNotify),
  transaction: async (work) => {
    let raised: { chain_id: string; address: Buffer }[] = [];
    const result = await database.transaction((transaction) => {
      raised = [];
      return work({
        query: async <Row extends object>(
          ...[statement, values]: Parameters<Queryable['query']>
        ) => {
          const rows = await transaction.query<Row>(statement, values);
          if (statement.label === 'raise matches')
            raised.push(...(rows as unknown as typeof raised));
          return rows;
        },
      });
    });
    for (const row of raised)
      process.stdout.write(`${row.chain_id} ${row.address.toString('hex')}\n`);
    return result;
  },
};

await importRepository({
  path: tree,
  database: acknowledging,
  dryRun: false,
  log: silentLogger,
  batchSize: 10,
});
await store.close();
