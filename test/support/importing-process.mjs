/**
 * Imports a tree like `fullmatch import`, and prints `chainId address` of each contract as soon as its transaction
 * has committed: lines on standard output are acknowledged. For tests that kill it.
 * Arguments: the data directory, the tree.
 */
import { importBuilt } from './import-built.mjs';

/** @typedef {import('../../src/store/database.ts').Database} Database */
/** @typedef {{ readonly chain_id: string, readonly address: Buffer }} RaisedRow */

/** @type {typeof import('../../src/importer/import-repository.ts')} */
const { importRepository } = await importBuilt('importer/import-repository.ts');
/** @type {typeof import('../../src/log.ts')} */
const { silentLogger } = await importBuilt('log.ts');
/** @type {typeof import('../../src/store/open-store.ts')} */
const { openStore } = await importBuilt('store/open-store.ts');

const [, , dataDir = '', tree = ''] = process.argv;
const store = await openStore({ poolSize: 2, dataDir }, silentLogger);
const { database } = store;

/** @type {Database} */
const acknowledging = {
  acknowledged: database.acknowledged,
  query: (statement, values) => database.query(statement, values),
  limited: (timeLimitMs) => database.limited(timeLimitMs),
  listen: (channel, onNotify) => database.listen(channel, onNotify),
  transaction: (work) => database.transaction(work),
  session: (work) =>
    database.session((session) =>
      work({
        acknowledged: session.acknowledged,
        query: (statement, values) => session.query(statement, values),
        copyIn: (statement, parts) => session.copyIn(statement, parts),
        transaction: async (inside) => {
          /** @type {RaisedRow[]} */
          let raised = [];
          const result = await session.transaction((transaction) => {
            raised = [];
            return inside({
              query: async (statement, values) => {
                /** @type {unknown} */
                const rows = await transaction.query(statement, values);
                if (statement.label === 'staged: raise matches')
                  raised.push(.../** @type {RaisedRow[]} */ (rows));
                return /** @type {never[]} */ (rows);
              },
            });
          });
          for (const row of raised)
            process.stdout.write(`${row.chain_id} ${row.address.toString('hex')}\n`);
          return result;
        },
      }),
    ),
};

await importRepository({
  path: tree,
  database: acknowledging,
  dryRun: false,
  log: silentLogger,
  batchSize: 10,
});
await store.close();
