// Runs as a process: requests forbidden URLs through every code path that takes external URLs, and prints the
// outcomes as JSON. With the argument `isolated` it runs in a network namespace where every address is this
// machine, so that public addresses can be requested too; without it only 127.0.0.1 is ever reachable.
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { queryExplorer } from '../../src/chains/creation/explorer-hits.ts';
import { createRpcClient } from '../../src/chains/rpc/rpc-client.ts';
import { quantity } from '../../src/chains/rpc/rpc-shapes.ts';
import { readSource } from '../../src/chains/list/list-source.ts';
import { FullmatchError } from '../../src/errors.ts';
import { classifyAddress } from '../../src/lib/address-guard.ts';
import { FetchFault } from '../../src/lib/fetch-fault.ts';
import { createGuardedFetch } from '../../src/lib/guarded-fetch.ts';
import { startDnsServer } from './dns-server.ts';
import { sampleEndpoint } from './rpc-server.ts';
import { readCases } from './shared-data.ts';
import { type SsrfOutcome, type SsrfReport } from './ssrf-report.ts';

interface Spelling {
  readonly url: string;
  readonly resolves?: readonly string[];
}

const isolated = process.argv[2] === 'isolated';
const PUBLIC_ADDRESS = '93.184.216.34';
const hits: string[] = [];
let location: string | undefined;

const server = createServer((request, response) => {
  if (location !== undefined && request.url?.startsWith('/redirect') === true) {
    // Raw bytes: node:http itself would reject many of these locations.
    const head = `HTTP/1.1 307 Away\r\nConnection: close\r\nContent-Length: 0\r\nLocation: ${location}`;
    response.socket?.end(Buffer.from(`${head}\r\n\r\n`, 'utf8'));
    return;
  }
  response.writeHead(200, { connection: 'close', 'content-type': 'application/json' });
  response.end('{"jsonrpc":"2.0","id":1,"result":"0x1"}');
});
let connections = 0;
server.on('connection', ({ localAddress = '' }) => {
  connections += 1;
  const address = localAddress.replace(/^::ffff:(?=\d+\.)/, '');
  if (classifyAddress(address) !== 'public') hits.push(address);
});
await new Promise<void>((resolve) => server.listen(0, '::', resolve));
const { port } = server.address() as AddressInfo;

/** Current resolution of the names in the table. */
let resolves: readonly string[] = [];
const dns = await startDnsServer((name, question) => {
  if (name === 'rebinding.example') return question === 0 ? [PUBLIC_ADDRESS] : ['127.0.0.1'];
  if (name === 'both.example') return ['127.0.0.1', PUBLIC_ADDRESS, '10.0.0.1'];
  return resolves;
});
const guarded = createGuardedFetch({
  allowPrivate: [],
  maxBytes: 100_000,
  deadlineMs: 5000,
  maxRedirects: 3,
  userAgent: 'fullmatch-test',
  resolve: dns.resolve,
  // A host in back-off gets no requests and so would prove nothing.
  breaker: { failures: Number.MAX_SAFE_INTEGER },
});

const chain = (url: string): Parameters<typeof rpc.ask>[0] => ({
  record: { chainId: 1 },
  endpoints: [sampleEndpoint(url, 'endpoint')],
  local: false,
});
const rpc = createRpcClient({ fetch: guarded, attempts: 1 });
const question = { method: 'eth_blockNumber', params: [], result: quantity };

/** The code paths that request external URLs. */
const ways: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  rpc: (url) => rpc.ask(chain(url), sampleEndpoint(url, 'endpoint'), question),
  list: (url) => readSource(url, undefined, guarded, { maxBytes: 100_000, deadlineMs: 5000 }),
  explorer: async (url) => {
    const end = await queryExplorer({
      fetch: guarded,
      rpc,
      archive: () => 'unknown',
      chain: {
        ...chain(url),
        record: { chainId: 1, contractFetchAddress: `${url}?of=\${ADDRESS}` },
      },
      address: `0x${'12'.repeat(20)}`,
      signal: AbortSignal.timeout(5000),
      propose: async () => 'created_nothing_here',
    });
    if (end.outcome === 'page_unavailable') throw new Error(end.detail);
  },
  socket: (url) => guarded.exchange(url.replace(/^http/i, 'ws'), { body: '{}' }),
};

async function outcomeOf(asked: () => Promise<unknown>): Promise<string> {
  try {
    await asked();
    return 'answered';
  } catch (error) {
    if (error instanceof FetchFault) return error.code;
    if (!(error instanceof FullmatchError)) return String(error);
    return typeof error.details.reason === 'string' ? error.details.reason : error.code;
  }
}

const outcomes: SsrfOutcome[] = [];
for (const spelling of readCases<Spelling>('ssrf.json')) {
  resolves = spelling.resolves ?? ['127.0.0.1'];
  const url = spelling.url.replaceAll('{port}', String(port));
  for (const [way, ask] of Object.entries(ways)) {
    outcomes.push({ way, url, outcome: await outcomeOf(() => ask(url)) });
    if (!isolated) continue;
    location = url.replaceAll(/[\t\n]/g, '');
    const from = `http://${PUBLIC_ADDRESS}:${port}/redirect`;
    // Relative to a URL with the same scheme some spellings lead back to the server itself.
    const outcome = await outcomeOf(() => ask(from));
    const home =
      URL.canParse(location, from) && new URL(location, from).host === new URL(from).host;
    if (!home) outcomes.push({ way: `${way}, redirected`, url, outcome });
    location = undefined;
  }
}

const rebinding: string[] = [];
const names = ['rebinding.example', 'rebinding.example', 'both.example'];
for (const name of isolated ? names : []) {
  rebinding.push(await outcomeOf(() => guarded.fetch(`http://${name}:${port}/`)));
}
const control: string[] = [];
for (const ask of isolated ? Object.values(ways) : []) {
  const before = connections;
  await outcomeOf(() => ask(`http://${PUBLIC_ADDRESS}:${port}/`));
  control.push(connections > before ? 'reached' : 'not reached');
}

await guarded.close();
await dns.close();
server.closeAllConnections();
server.close();
const report: SsrfReport = { outcomes, hits, control, rebinding };
process.stdout.write(JSON.stringify(report));
