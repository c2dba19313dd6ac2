import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Hex } from '../../src/lib/hex.ts';

/** Why a test that needs an EVM node is skipped. */
export const NO_ANVIL = 'the anvil binary of @foundry-rs/anvil-linux-amd64 is not installed here';

/** Transaction parameters for anvil; accounts are unlocked. */
export interface AnvilTransaction {
  readonly to?: Hex;
  readonly data?: string;
  readonly from?: Hex;
  readonly gas?: Hex;
}

export interface AnvilReceipt {
  readonly transactionHash: Hex;
  readonly transactionIndex: Hex;
  readonly blockHash: Hex;
  readonly blockNumber: Hex;
  readonly contractAddress: Hex | null;
  readonly status: Hex;
  readonly from: Hex;
}

/** A running anvil. */
export interface Anvil {
  readonly url: string;
  readonly port: number;
  /** `127.0.0.1:port`. */
  readonly hostPort: string;
  readonly chainId: number;
  readonly processId: number;
  /** Its first account, which has ether and signs. */
  readonly account: Hex;
  /**
   * Makes one JSON-RPC call.
   * @throws Error with the node's message.
   */
  readonly request: <T>(method: string, params?: readonly unknown[]) => Promise<T>;
  /** Sends a transaction, mined immediately. A reverted one has status 0x0. */
  readonly send: (transaction: AnvilTransaction) => Promise<AnvilReceipt>;
  /** Stops the process and waits for its exit. */
  readonly stop: () => Promise<void>;
}

/** The path of the anvil binary, or undefined if npm does not install it. */
export function findAnvil(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(
      '@foundry-rs/anvil-linux-amd64/package.json',
    );
    const binary = path.join(path.dirname(manifest), 'bin', 'anvil');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}

const START_TIMEOUT_MS = 90_000;

/** The port on which anvil reports to listen: it chose a free one. */
function readPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const timer = setTimeout(
      () => reject(new Error('anvil did not start in time')),
      START_TIMEOUT_MS,
    );
    child.once('exit', (code) => reject(new Error(`anvil ended with ${String(code)}: ${printed}`)));
    child.once('error', reject);
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(Number(port));
    });
  });
}

async function callAnvil<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer = (await response.json()) as { result?: T; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result as T;
}

/**
 * Starts an anvil on 127.0.0.1 with a free port; each transaction is mined immediately. Up to Shanghai a
 * self-destructed contract disappears and may be recreated.
 * @throws Error if the binary is missing: see {@link findAnvil}.
 */
export async function startAnvil(
  options: {
    readonly chainId?: number;
    readonly hardfork?: 'shanghai';
    /** Fixed port instead of a free one: that of a stopped node. */
    readonly port?: number;
  } = {},
): Promise<Anvil> {
  const chainId = options.chainId ?? 31_337;
  const binary = findAnvil();
  if (binary === undefined) throw new Error(NO_ANVIL);
  const child = spawn(
    binary,
    [
      ...[
        '--host',
        '127.0.0.1',
        '--port',
        String(options.port ?? 0),
        '--chain-id',
        String(chainId),
      ],
      ...(options.hardfork === undefined ? [] : ['--hardfork', options.hardfork]),
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const port = await readPort(child);
  const url = `http://127.0.0.1:${port}`;
  const request = <T>(method: string, params: readonly unknown[] = []): Promise<T> =>
    callAnvil<T>(url, method, params);
  const [account] = await request<Hex[]>('eth_accounts');
  if (account === undefined) throw new Error('anvil has no accounts');
  let sending: Promise<unknown> = Promise.resolve();
  return {
    url,
    port,
    hostPort: `127.0.0.1:${port}`,
    chainId,
    processId: child.pid ?? 0,
    account,
    request,
    async send(transaction) {
      // With a gas limit anvil does not estimate, so a reverting transaction is mined too.
      const call = { from: account, gas: '0x989680', ...transaction };
      // For two concurrent transactions anvil may assign the same nonce and reject one.
      const sent = sending.then(() => request<Hex>('eth_sendTransaction', [call]));
      sending = sent.catch(() => undefined);
      const hash = await sent;
      // Mining begins immediately but may end shortly after the response.
      for (let attempt = 0; attempt < 200; attempt += 1) {
        const receipt = await request<AnvilReceipt | null>('eth_getTransactionReceipt', [hash]);
        if (receipt !== null) return receipt;
        await wait(10 + attempt);
      }
      throw new Error(`anvil did not mine ${hash}`);
    },
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The chain that tests verify on. */
export const VERIFIED_CHAIN_ID = 424242;

/** A fullmatch.yaml with anvil's chain. */
export function configOf(anvil: Pick<Anvil, 'url'>, more = ''): string {
  return `
registry: { include: configured, defaults: false }
chains:
  ${VERIFIED_CHAIN_ID}:
    name: Test chain
    local: true
    rpc: [${anvil.url}]
${more}`;
}

/** Deploys creation code with encoded constructor arguments. */
export async function deploy(
  anvil: Anvil,
  creationCode: string,
  constructorArguments = '',
): Promise<{ readonly address: Hex; readonly transactionHash: Hex }> {
  const receipt = await anvil.send({ data: `0x${creationCode}${constructorArguments}` });
  if (receipt.contractAddress === null) throw new Error('nothing was created');
  return { address: receipt.contractAddress, transactionHash: receipt.transactionHash };
}
