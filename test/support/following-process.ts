// A process that follows one chain until it is killed: `following-process.ts <data directory> <chain id>
// <url>`.
import pino from 'pino';
import { openStore } from '../../src/store/open-store.ts';
import { followChain } from './monitored-chain.ts';

const [dataDir = '', chainId = '', url = ''] = process.argv.slice(2);
const log = pino({ level: 'warn' }, pino.destination(2));
const store = await openStore({ dataDir, poolSize: 6 }, log);
const following = followChain(store.database, {
  chainId: Number(chainId),
  urls: [url],
  options: { pollMs: 100, leaseMs: 3_000 },
  log,
});
// This process exits with its parent.
process.stdin.resume();
process.stdin.once('end', () => process.exit(0));
process.once('SIGTERM', () => {
  void following
    .close()
    .then(() => store.close())
    .then(() => process.exit(0));
});
