// A process that opens the store of the data directory in its first argument, prints the result as one JSON line, and
// keeps it open until its standard input ends; then it closes the store and prints "closed".
import { once } from 'node:events';
import { importBuilt } from './import-built.mjs';

/** @type {typeof import('../../src/errors.ts')} */
const { FullmatchError } = await importBuilt('errors.ts');
/** @type {typeof import('../../src/log.ts')} */
const { silentLogger } = await importBuilt('log.ts');
/** @type {typeof import('../../src/store/open-store.ts')} */
const { openStore } = await importBuilt('store/open-store.ts');

const [dataDir = ''] = process.argv.slice(2);
try {
  const store = await openStore({ dataDir, poolSize: 2 }, silentLogger);
  const { joined, processId, version } = store.server;
  console.log(JSON.stringify({ joined, processId, version }));
  process.stdin.resume();
  await once(process.stdin, 'end');
  await store.close();
  console.log('closed');
} catch (error) {
  console.log(
    JSON.stringify({ code: error instanceof FullmatchError ? error.code : String(error) }),
  );
}
