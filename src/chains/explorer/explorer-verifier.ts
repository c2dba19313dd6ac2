import { FetchFault } from '../../lib/fetch-fault.ts';
import { type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { type Hex } from '../../lib/hex.ts';
import { membersOf } from '../../lib/members.ts';
import { printableText } from '../../lib/printable-text.ts';
import { type Secret } from '../../lib/secret.ts';
import { withoutKey } from './without-key.ts';

/** Explorers that receive matches, by their names in the API v2. */
export const EXPLORERS = ['etherscan', 'blockscout', 'routescan'] as const;

/** One of {@link EXPLORERS}. */
export type ExplorerName = (typeof EXPLORERS)[number];

/** Verification API of an explorer, and its key. */
export interface ExplorerTarget {
  /** Its Etherscan-compatible API; `{chainId}` in it is replaced by the chain id. */
  readonly url: string;
  readonly apiKey?: Secret;
}

/** A contract in the form that explorers accept. */
export interface ExplorerSubmission {
  readonly chainId: number;
  readonly address: Hex;
  /** The standard JSON input. */
  readonly input: string;
  readonly isVyper: boolean;
  /** `path:Name` */
  readonly contract: string;
  /** The long version. */
  readonly compilerVersion: string;
  /** Hex without 0x. */
  readonly constructorArguments: string;
}

/** Response of an explorer: an id to poll, its verdict, pending, or a request to retry later. */
export type ExplorerResponse =
  | { readonly kind: 'accepted'; readonly id: string }
  | { readonly kind: 'verified' }
  | { readonly kind: 'pending' }
  | { readonly kind: 'refused' | 'later'; readonly reason: string };

/** Where people and programs can see a verification at an explorer. The URLs contain no key. */
export interface ExplorerLinks {
  readonly statusUrl?: string;
  readonly contractApiUrl: string;
}

/** Submits contracts to other explorers. Rejects only with the reason of the signal: failures are retried later. */
export interface ExplorerVerifier {
  /** The explorers that receive contracts of a chain. */
  explorersOf(chainId: number): readonly ExplorerName[];
  submit(
    explorer: ExplorerName,
    submission: ExplorerSubmission,
    signal?: AbortSignal,
  ): Promise<ExplorerResponse>;
  check(
    explorer: ExplorerName,
    chainId: number,
    id: string,
    signal?: AbortSignal,
  ): Promise<ExplorerResponse>;
  linksOf(explorer: ExplorerName, chainId: number, address: Hex, id?: string): ExplorerLinks;
}

const ANSWER_BYTES = 65_536;
const DEADLINE_MS = 30_000;
const REASON_CHARACTERS = 500;
const ID_CHARACTERS = 200;
const PENDING = /^(?:pending in queue|in progress|verification in progress)/i;
const VERIFIED = /already verified|^pass - verified/i;
/** Its node has not seen the contract yet, or it rate-limits us. */
const LATER = /unable to locate contractcode|not a smart contract|rate limit|too many|try again/i;

/** @param chains chains to submit; all of them if none is named */
export function openExplorerVerifier(
  targets: Readonly<Partial<Record<ExplorerName, ExplorerTarget>>>,
  chains: ReadonlySet<number>,
  fetch: Pick<GuardedFetch, 'fetch'>,
): ExplorerVerifier {
  const urlOf = (explorer: ExplorerName, chainId: number): URL => {
    const { url } = targets[explorer] ?? { url: '' };
    const target = new URL(url.replaceAll('{chainId}', String(chainId)));
    // Etherscan's API takes the chain as a parameter, the others ignore it.
    target.searchParams.set('chainid', String(chainId));
    return target;
  };
  const linkOf = (
    explorer: ExplorerName,
    chainId: number,
    question: Readonly<Record<string, string>>,
  ): string => {
    const url = urlOf(explorer, chainId);
    for (const [name, value] of Object.entries({ module: 'contract', ...question })) {
      url.searchParams.set(name, value);
    }
    return url.href;
  };
  const ask = async (
    explorer: ExplorerName,
    chainId: number,
    fields: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<ExplorerResponse> => {
    const apiKey = targets[explorer]?.apiKey;
    const key = apiKey && { apikey: apiKey.reveal() };
    const body = new URLSearchParams({ ...key, module: 'contract', ...fields }).toString();
    const sent = { 'content-type': 'application/x-www-form-urlencoded' };
    const limits = {
      maxBytes: ANSWER_BYTES,
      deadlineMs: DEADLINE_MS,
      ...(signal !== undefined && { signal }),
    };
    try {
      const { href } = urlOf(explorer, chainId);
      const answer = await fetch.fetch(href, { method: 'POST', headers: sent, body, ...limits });
      if (answer.status !== 200) {
        return { kind: 'later', reason: `It responded with status ${answer.status}.` };
      }
      const shown = apiKey === undefined ? answer.body : withoutKey(answer.body, apiKey);
      return shown === undefined
        ? { kind: 'later', reason: 'It returned the API key repeatedly.' }
        : readAnswer(shown);
    } catch (error) {
      if (!(error instanceof FetchFault)) throw error;
      // Its message may name a host of the operator's own network.
      return { kind: 'later', reason: `It could not be asked (${error.code}).` };
    }
  };
  return {
    explorersOf: (chainId) =>
      chains.size > 0 && !chains.has(chainId)
        ? []
        : EXPLORERS.filter((explorer) => targets[explorer] !== undefined),
    submit: (explorer, { chainId, isVyper, ...submission }, signal) => {
      const fields = {
        action: 'verifysourcecode',
        contractaddress: submission.address,
        codeformat: isVyper ? 'vyper-json' : 'solidity-standard-json-input',
        sourceCode: submission.input,
        contractname: submission.contract,
        compilerversion: isVyper
          ? `vyper:${submission.compilerVersion.replace(/\+.*$/, '')}`
          : `v${submission.compilerVersion}`,
        // The first explorer misspelt it; newer ones accept the correct spelling.
        constructorArguements: submission.constructorArguments,
        constructorArguments: submission.constructorArguments,
      };
      return ask(explorer, chainId, fields, signal);
    },
    check: (explorer, chainId, id, signal) =>
      ask(explorer, chainId, { action: 'checkverifystatus', guid: id }, signal),
    linksOf: (explorer, chainId, address, id) => ({
      ...(id !== undefined && {
        statusUrl: linkOf(explorer, chainId, { action: 'checkverifystatus', guid: id }),
      }),
      contractApiUrl: linkOf(explorer, chainId, { action: 'getsourcecode', address }),
    }),
  };
}

/** Response of an Etherscan-compatible API, whose result says more than its status. */
function readAnswer(body: Buffer): ExplorerResponse {
  let answer: unknown;
  try {
    answer = JSON.parse(body.toString('utf8'));
  } catch {
    return { kind: 'later', reason: 'Its answer is not JSON.' };
  }
  const { status, result, message } = membersOf(answer);
  const given = [result, message].find((each) => typeof each === 'string' && each !== '');
  const text = printableText(typeof given === 'string' ? given : '', REASON_CHARACTERS);
  if (VERIFIED.test(text)) return { kind: 'verified' };
  if (PENDING.test(text)) return { kind: 'pending' };
  if (String(status) === '1' && !/^fail/i.test(text) && text.length <= ID_CHARACTERS) {
    return { kind: 'accepted', id: text };
  }
  if (LATER.test(text)) return { kind: 'later', reason: text };
  return { kind: 'refused', reason: text === '' ? 'It gave no reason.' : text };
}
