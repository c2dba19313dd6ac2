import { connect, type Socket } from 'node:net';
import { postJson, repeat, shoot, sleep, Tally } from './client.ts';
import { bodyOfSource, compileBomb, PROXY_ADDRESS, type HostileContext } from './context.ts';

/** Sends requests of a hostile client for the duration in the context and counts the responses. */
type Load = (context: HostileContext) => Promise<Tally>;

const JSON_HEADERS = { 'content-type': 'application/json' };
const MEGABYTE = 1_000_000;

const verifyPath = ({ chainId, targets }: HostileContext, index = 0): string =>
  `/v2/verify/${chainId}/${targets[index % targets.length] ?? ''}`;

/** Posts one body to verification API v2 repeatedly. */
function posting(body: () => Buffer, workers = 2): Load {
  return async (context) => {
    const tally = new Tally();
    const bytes = body();
    await repeat(context.seconds, workers, async () => {
      tally.count(
        await shoot({
          ...{ port: context.apiPort, path: verifyPath(context), method: 'POST' },
          ...{ headers: JSON_HEADERS, body: bytes },
        }),
      );
    });
    return tally;
  };
}

/** Requests one path repeatedly. */
function asking(path: (context: HostileContext, round: number) => string, workers: number): Load {
  return async (context) => {
    const tally = new Tally();
    await repeat(context.seconds, workers, async (round) => {
      tally.count(await shoot({ port: context.apiPort, path: path(context, round) }));
    });
    return tally;
  };
}

const values = (): Buffer => Buffer.from(`{"a":[{}${',{}'.repeat(10 * MEGABYTE - 3)}]}`);
const depth = (): Buffer =>
  Buffer.from(`{"a":${'['.repeat(14 * MEGABYTE)}${']'.repeat(14 * MEGABYTE)}}`);

function keys(name: (index: number) => string): Buffer {
  const entries = Array.from({ length: 1_500_000 }, (_, index) => `"${name(index)}":1`);
  return Buffer.from(`{"stdJsonInput":{${entries.join(',')}}}`);
}

function sources(count: number): Buffer {
  const entries = Array.from({ length: count }, (_, index) => `"s${index}.sol":{"content":"//"}`);
  return Buffer.from(
    `{"stdJsonInput":{"language":"Solidity","sources":{${entries.join(',')}},"settings":{}},"compilerVersion":"0.8.37","contractIdentifier":"s0.sol:A"}`,
  );
}

const formFiles: Load = async (context) => {
  const part = '--b\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n\r\n';
  const body = Buffer.from(`${part.repeat(379_510)}--b--\r\n`);
  const tally = new Tally();
  await repeat(context.seconds, 2, async () => {
    tally.count(
      await shoot({
        ...{ port: context.apiPort, path: '/verify', method: 'POST', body },
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      }),
    );
  });
  return tally;
};

function openSocket(port: number, tally: Tally, from?: string): Socket {
  const socket = connect({
    ...{ host: '127.0.0.1', port },
    ...(from !== undefined && { localAddress: from }),
  });
  let heard = false;
  socket.on('data', (chunk) => {
    if (heard) return;
    heard = true;
    const status = /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1] ?? 'other';
    tally.count({ status, text: '{}' });
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (!heard) tally.count({ status: error.code ?? 'error', text: '' });
    heard = true;
  });
  return socket;
}

const unfinishedBodies: Load = async (context) => {
  const tally = new Tally();
  const piece = Buffer.alloc(28 * MEGABYTE, 0x20);
  const sockets = Array.from({ length: 60 }, () => {
    const socket = openSocket(context.apiPort, tally);
    socket.write(
      `POST ${verifyPath(context)} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${29 * MEGABYTE}\r\n\r\n`,
    );
    socket.write(piece);
    return socket;
  });
  await sleep(context.seconds * 1000);
  for (const socket of sockets) socket.destroy();
  return tally;
};

const waitingV1: Load = async (context) => {
  const tally = new Tally();
  const metadata = {
    compiler: { version: '0.8.37+commit.f401782d' },
    language: 'Solidity',
    settings: { compilationTarget: { 'a.sol': 'A' }, optimizer: { enabled: true, runs: 200 } },
    sources: { 'a.sol': { keccak256: `0x${'00'.repeat(32)}` } },
    version: 1,
    output: { abi: [], devdoc: {}, userdoc: {} },
  };
  const { chainId, apiPort: port, targets, seconds } = context;
  const text = `//${'x'.repeat(28 * MEGABYTE)}`;
  const post = async (index: number): Promise<void> => {
    const address = targets[index % targets.length];
    const files = { 'metadata.json': metadata, [`a${index}.sol`]: text };
    const shot = { port, path: '/verify', abortAfterMs: seconds * 1000 };
    tally.count(await postJson(shot, { chain: String(chainId), address, files }));
  };
  const posts: Promise<void>[] = [];
  for (let index = 0; index < 90; index += 1) {
    posts.push(post(index));
    await sleep(5);
  }
  await Promise.all(posts);
  return tally;
};

async function submitBomb(
  context: HostileContext,
  round: number,
  from: string,
  headers: Readonly<Record<string, string>> = {},
): ReturnType<typeof shoot> {
  const salt = `${from} ${JSON.stringify(headers).length} ${round}`.slice(0, 30);
  return postJson(
    { port: context.apiPort, path: verifyPath(context, round), from, headers },
    bodyOfSource(compileBomb(salt)),
  );
}

const WAITERS = 1_500;

const waiters: Load = async (context) => {
  const tally = new Tally();
  const submitted = await submitBomb(context, 1, '127.0.0.1');
  tally.count(submitted);
  let [id] = tally.jobs;
  const renewing = setInterval(() => {
    void submitBomb(context, Math.round(performance.now()), '127.0.0.1').then((answer) => {
      tally.count(answer);
      id = tally.jobs.at(-1);
    });
  }, 3_000);
  // A client may have 200 waiting requests; more are answered at once. All begin within two seconds: at the same moment
  // they would be a flood of connections.
  let begun = 0;
  await repeat(context.seconds, WAITERS, async () => {
    begun += 1;
    const from = `127.0.0.${10 + (begun % 8)}`;
    if (begun <= WAITERS) await sleep((2_000 * begun) / WAITERS);
    const { status } = await shoot({ port: context.apiPort, path: `/v2/verify/${id ?? ''}`, from });
    tally.count({ status: `wait ${status}`, text: '' });
    if (status !== '200') await sleep(100);
  });
  clearInterval(renewing);
  return tally;
};

const bombs: Load = async (context) => {
  const tally = new Tally();
  await repeat(context.seconds, 4, async (round) => {
    tally.count(await submitBomb(context, round, `127.0.0.${1 + (round % 2)}`));
    await sleep(20);
  });
  return tally;
};

const forwardedBombs: Load = async (context) => {
  const tally = new Tally();
  await repeat(context.seconds, 4, async (round) => {
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    tally.count(await submitBomb(context, round, PROXY_ADDRESS, headers));
    await sleep(20);
  });
  return tally;
};

const slowReaders: Load = async (context) => {
  const tally = new Tally();
  const wanted = 'GET /chains HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(20);
  const sockets = Array.from({ length: 50 }, () => {
    const socket = openSocket(context.apiPort, tally);
    socket.pause();
    socket.write(wanted);
    return socket;
  });
  await sleep(context.seconds * 1000);
  for (const socket of sockets) socket.destroy();
  return tally;
};

const headerFloods: Load = async (context) => {
  const tally = new Tally();
  const shapes: Readonly<Record<string, string>>[] = [
    { 'x-large': 'x'.repeat(15_000) },
    { 'x-too-large': 'x'.repeat(60_000) },
    Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`x-${index}`, 'y'])),
    { 'accept-encoding': 'gzip;q=0.1,'.repeat(1_200) },
    { 'if-none-match': '"a",'.repeat(3_500) },
    { 'x-forwarded-for': '1.2.3.4,'.repeat(1_800), forwarded: 'for=1.2.3.4;'.repeat(100) },
    { range: `bytes=${'0-1,'.repeat(3_000)}` },
    { accept: 'text/html;q=0.5,'.repeat(900) },
  ];
  await repeat(context.seconds, 16, async (round) => {
    const headers = shapes[round % shapes.length] ?? {};
    tally.count(await shoot({ port: context.apiPort, path: '/chains', headers }));
  });
  return tally;
};

/** Every load by name, in execution order: those that leave jobs behind come last. */
export const LOADS: Readonly<Record<string, Load>> = {
  json_values: posting(values),
  json_depth: posting(depth),
  json_duplicate_keys: posting(() => keys(() => 'a')),
  json_index_keys: posting(() => keys((index) => String(index * 4_096))),
  form_of_empty_files: formFiles,
  many_sources: posting(() => sources(700_000)),
  unfinished_bodies: unfinishedBodies,
  job_page: asking(({ largeJob }) => `/job/${largeJob ?? ''}`, 4),
  contract_page: asking(({ chainId, manyFiles }) => `/contract/${chainId}/${manyFiles ?? ''}`, 4),
  hidden_page: asking(({ chainId, hidden }) => `/contract/${chainId}/${hidden ?? ''}`, 8),
  after_match_id: asking(
    ({ chainId }, round) =>
      `/v2/contracts/${chainId}?afterMatchId=${['9x', '-1', '9'.repeat(400), '%00', '1e9', '0x10'][round % 6] ?? ''}`,
    16,
  ),
  slow_readers: slowReaders,
  header_floods: headerFloods,
  waiting_v1: waitingV1,
  waiters_on_jobs: waiters,
  bombs_of_two_addresses: bombs,
  bombs_behind_a_proxy: forwardedBombs,
};
