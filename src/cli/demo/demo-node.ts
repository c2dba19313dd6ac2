import { spawn, type ChildProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DEMONSTRATION_CHAIN_ID } from '../../chains/registry/default-service-chains.ts';
import { asFullmatchError, FullmatchError } from '../../errors.ts';
import { hostPortOf } from '../../lib/address-guard.ts';
import { createGuardedFetch, type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { type Hex } from '../../lib/hex.ts';

const ANVIL_PACKAGE = '@foundry-rs/anvil-linux-amd64/package.json';
const START_TIMEOUT_MS = 20_000;
const RECEIPT_ATTEMPTS = 300;
const MAX_BYTES = 16_000_000;
/** Enough for every demo contract, so that the node need not estimate. */
const GAS = '0x5b8d80';

/** A mined transaction. */
export interface DemoReceipt {
  readonly transactionHash: Hex;
  readonly contractAddress: Hex | null;
  readonly logs: readonly { readonly data: Hex }[];
  readonly status: Hex;
}

/** A development node that signs for its own accounts. */
export interface DemoNode {
  readonly url: string;
  /**
   * Sends a transaction from the node's first account and waits until it is mined.
   * @throws FullmatchError
   */
  readonly send: (transaction: { readonly to?: Hex; readonly data: Hex }) => Promise<DemoReceipt>;
  /** Stops the node if this process started it. */
  readonly close: () => Promise<void>;
}

/** Finds anvil: on the PATH, or in the npm package in the node_modules of the program or of the working directory. */
function findAnvil(searchPath: string, workingDirectory: string): string | undefined {
  const isProgram = (file: string): boolean => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  const packaged = [import.meta.url, path.join(workingDirectory, 'package.json')].flatMap(
    (from) => {
      try {
        return [path.join(path.dirname(createRequire(from).resolve(ANVIL_PACKAGE)), 'bin/anvil')];
      } catch {
        return [];
      }
    },
  );
  const folders = searchPath.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return [...folders.map((folder) => path.join(folder, 'anvil')), ...packaged].find(isProgram);
}

/**
 * Opens the node of the demo: the one at `rpc`, or a newly started anvil.
 * @throws FullmatchError `no_demo_node` if there is none or it has another chain id
 */
export async function openDemoNode(
  options: {
    readonly rpc?: string;
    readonly searchPath: string;
    readonly workingDirectory: string;
  },
  signal: AbortSignal,
): Promise<DemoNode> {
  if (options.rpc !== undefined) return connect(options.rpc, async () => undefined, signal);
  const binary = findAnvil(options.searchPath, options.workingDirectory);
  if (binary === undefined) throw noNode('No EVM node was found.');
  const { url, stop } = await startAnvil(binary, signal);
  return connect(url, stop, signal).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
}

function noNode(what: string): FullmatchError {
  return new FullmatchError(
    'no_demo_node',
    `${what} Install anvil (https://getfoundry.sh, or npm install @foundry-rs/anvil-linux-amd64), or run ` +
      `a development node with --chain-id ${DEMONSTRATION_CHAIN_ID} and name it with --rpc http://127.0.0.1:8545.`,
  );
}

async function startAnvil(
  binary: string,
  signal: AbortSignal,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const chainId = String(DEMONSTRATION_CHAIN_ID);
  const child = spawn(binary, ['--host', '127.0.0.1', '--port', '0', '--chain-id', chainId], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  try {
    return { url: `http://127.0.0.1:${await readPort(child, signal)}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Reads the port on which anvil listens from its output; anvil picks a free one. */
function readPort(child: ChildProcess, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const fail = (): void => reject(noNode('anvil was found but does not start.'));
    const timer = setTimeout(fail, START_TIMEOUT_MS);
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stopWaiting);
    };
    const stopWaiting = (): void => {
      settle();
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', stopWaiting);
    for (const event of ['exit', 'error']) {
      child.once(event, () => {
        settle();
        fail();
      });
    }
    child.stdout?.on('data', (chunk: Buffer) => {
      // Keep reading the output, or the node would block on a full pipe.
      if (printed.length < 100_000) printed += chunk.toString();
      const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
      if (port === undefined) return;
      settle();
      resolve(port);
    });
  });
}

async function connect(
  url: string,
  stop: () => Promise<void>,
  signal: AbortSignal,
): Promise<DemoNode> {
  if (!URL.canParse(url)) throw new FullmatchError('invalid_parameter', '--rpc is not a URL.');
  const fetch = createGuardedFetch({
    // The user entered the URL, so it may be on this machine.
    allowPrivate: [hostPortOf(new URL(url))],
    maxBytes: MAX_BYTES,
    deadlineMs: START_TIMEOUT_MS,
    maxRedirects: 0,
    userAgent: 'fullmatch',
  });
  const close = async (): Promise<void> => {
    await fetch.close();
    await stop();
  };
  const ask = <Value>(method: string, ...params: readonly unknown[]): Promise<Value> =>
    call<Value>(fetch, url, method, params, signal);
  try {
    const chainId = Number(await ask<string>('eth_chainId'));
    if (chainId !== DEMONSTRATION_CHAIN_ID) {
      throw noNode(
        `The node at --rpc is chain ${chainId}: the demonstration does not deploy there.`,
      );
    }
    const [account] = await ask<readonly Hex[]>('eth_accounts');
    if (account === undefined) throw noNode('The node at --rpc has no unlocked account.');
    return { url, close, send: (transaction) => send(ask, account, transaction, signal) };
  } catch (error) {
    await fetch.close();
    throw error;
  }
}

type Ask = <Value>(method: string, ...params: readonly unknown[]) => Promise<Value>;

async function send(
  ask: Ask,
  from: Hex,
  transaction: { readonly to?: Hex; readonly data: Hex },
  signal: AbortSignal,
): Promise<DemoReceipt> {
  const hash = await ask<Hex>('eth_sendTransaction', { from, gas: GAS, ...transaction });
  for (let attempt = 0; attempt < RECEIPT_ATTEMPTS; attempt += 1) {
    const receipt = await ask<DemoReceipt | null>('eth_getTransactionReceipt', hash);
    if (receipt?.status === '0x1') return receipt;
    if (receipt !== null) throw noNode('The node reverted a transaction of the demonstration.');
    await wait(5 + attempt, undefined, { signal });
  }
  throw noNode('The node did not mine the transactions of the demonstration.');
}

async function call<Value>(
  fetch: GuardedFetch,
  url: string,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<Value> {
  const { body } = await fetch
    .fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal,
    })
    .catch((error: unknown) => {
      throw asFullmatchError(error);
    });
  let answer: { result?: Value; error?: { message?: unknown } };
  try {
    answer = JSON.parse(body.toString('utf8')) as typeof answer;
  } catch {
    throw noNode('The endpoint at --rpc is not an EVM node.');
  }
  if (answer.error !== undefined) {
    throw noNode(`The node refuses ${method}: ${String(answer.error.message)}.`);
  }
  return answer.result as Value;
}
