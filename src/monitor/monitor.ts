// The monitor: follows chains, keeps the inbox of new contracts, finds their sources, and submits their
// verification.
import { type MonitoredChain } from '../chains/registry/monitored-chain.ts';
import { isPrivateHost } from '../chains/registry/public-rpc.ts';
import { type RegisteredChain } from '../chains/registry/registered-chain.ts';
import { type ServiceChain } from '../chains/registry/service-chain.ts';
import { hostOf } from '../chains/rpc/rpc-chain.ts';
import { type RpcClient } from '../chains/rpc/rpc-client.ts';
import { messageOf } from '../errors.ts';
import { Closers } from '../lib/closers.ts';
import { type GuardedFetch } from '../lib/guarded-fetch.ts';
import { repeatUntilClosed } from '../lib/repeat.ts';
import { type Logger } from '../log.ts';
import { findStoredSources } from '../repository/repository.ts';
import { type Database } from '../store/database.ts';
import { KnownCodeCache } from '../verification/known-codes/known-code-cache.ts';
import { verifyKnownCode } from '../verification/known-codes/verify-known-code.ts';
import { type VerificationParts } from '../verification/verify-contract.ts';
import { startChainFollowers } from './follow/follow-chains.ts';
import { type FollowOptions } from './follow/follow-options.ts';
import { readNewestKnownCode, requeueKnownCreations } from './inbox/inbox-table.ts';
import { openInbox } from './inbox/inbox.ts';
import { startRechecks } from './inbox/recheck-replaced.ts';
import { type AttemptDependencies } from './inbox/try-creation.ts';
import { createSourceFinder } from './sources/find-sources.ts';

/** Dependencies of a monitor. */
export interface MonitorDependencies {
  readonly database: Database;
  readonly fetch: GuardedFetch;
  readonly rpc: RpcClient;
  /** Finds any chain in the current registry. */
  readonly findChain: (chainId: number) => RegisteredChain | undefined;
  /** The current service configuration. */
  readonly configured: () => ReadonlyMap<number, Pick<ServiceChain, 'monitor'>>;
  readonly verification: VerificationParts;
  readonly submit: AttemptDependencies['submit'];
  readonly waitForJobs: AttemptDependencies['waitForJobs'];
  /** Takes one request from the host's daily budget; returns false if it is used up. */
  readonly takeRequest: (host: string) => boolean;
}

/** Options of a monitor. */
export interface MonitorOptions {
  readonly gateways: readonly string[];
  readonly swarmGateways: readonly string[];
  readonly keepDays: number;
  readonly follow?: FollowOptions;
  /** How often it checks whether any chain is monitored, in milliseconds (1,000). */
  readonly pollMs?: number;
}

/** The monitor of this process. */
export interface Monitor {
  /** Whether it is running, because a chain is monitored. */
  readonly isWorking: boolean;
  /** Requests to endpoints that the daily budget granted and refused. */
  readonly requests: { readonly granted: number; readonly refused: number };
  /** Stops work in progress; other processes continue it. */
  close(): Promise<void>;
}

/** Found contracts handled at once, in each stage. */
const CONCURRENCY = 4;
/** Most verifications of found contracts that are queued or running; user submissions have priority. */
const QUEUE_SHARE = 8;
const POLL_MS = 1000;
/** Number of newest rows of known bytecode to recheck on start, since they may have been added while no monitor ran. */
const CODES_AGAIN = 1000;

/** Opens the monitor. It is idle while no chain is monitored, and reacts to chains that a reload adds or removes. */
export function openMonitor(
  parts: MonitorDependencies,
  options: MonitorOptions,
  log: Logger,
): Monitor {
  const pollMs = options.pollMs ?? POLL_MS;
  const requests = { granted: 0, refused: 0 };
  const monitored = monitoredOf(parts.configured);
  const knownCodes = new NewKnownCodes(parts.database, log);
  let work: Work | undefined;
  const startOrStop = async (): Promise<number> => {
    const isWanted = monitored().size > 0;
    if (isWanted && work === undefined) work = startWork(parts, options, monitored, requests, log);
    if (isWanted && (await knownCodes.requeue())) work?.wake();
    if (!isWanted && work !== undefined) {
      const ending = work;
      work = undefined;
      await ending.close();
    }
    return pollMs;
  };
  const switching = repeatUntilClosed(startOrStop, {
    retryMs: pollMs,
    onFailure: (error) =>
      log.error(
        { event: 'monitor_failed', error: messageOf(error) },
        'the monitor could not start or stop; trying again',
      ),
  });
  return {
    get isWorking() {
      return work !== undefined;
    },
    requests,
    close: async () => {
      await switching.close();
      await work?.close();
    },
  };
}

/**
 * Returns a function that returns the monitored chains; its result is the same object until the configuration
 * changes.
 */
function monitoredOf(
  configured: MonitorDependencies['configured'],
): () => ReadonlyMap<number, MonitoredChain> {
  let seen: ReturnType<typeof configured> | undefined;
  let monitored: ReadonlyMap<number, MonitoredChain> = new Map();
  return () => {
    const now = configured();
    if (now !== seen) {
      const chains = [...now].flatMap(([chainId, { monitor }]) =>
        monitor === undefined ? [] : [[chainId, monitor] as const],
      );
      monitored = new Map(chains);
    }
    seen = now;
    return monitored;
  };
}

/** The running parts while a chain is monitored. */
interface Work {
  /** Makes the inbox search for due creations. */
  wake(): void;
  close(): Promise<void>;
}

/** Starts the parts that run while a chain is monitored; they are closed in reverse order. */
function startWork(
  parts: MonitorDependencies,
  options: MonitorOptions,
  monitored: () => ReadonlyMap<number, MonitoredChain>,
  requests: { granted: number; refused: number },
  log: Logger,
): Work {
  const { database, fetch, rpc, findChain, verification } = parts;
  const { gateways, swarmGateways, keepDays } = options;
  const closers = new Closers();
  const finder = createSourceFinder({
    ...{ fetch, ipfsGateways: gateways, swarmGateways },
    findStoredSources: (hashes, maxBytes) => findStoredSources(database, hashes, maxBytes),
    limits: { sourceBytes: verification.sourceBytes },
  });
  const cache = new KnownCodeCache();
  const inbox = openInbox(
    {
      ...{ database, monitored, log },
      queueShare: QUEUE_SHARE,
      reading: verification,
      verifyKnownCode: (known, ...rest) => verifyKnownCode({ ...known, cache }, ...rest),
      findSources: (code, found) => finder.find(code, found),
      pack: (request, trial) => verification.reader.ask({ read: 'pack', request }, trial),
      submit: parts.submit,
      waitForJobs: parts.waitForJobs,
    },
    { concurrency: CONCURRENCY, keepDays },
  );
  closers.addFirst(inbox);
  const rechecks = closers.addFirst(startRechecks(database, verification, log));
  const takeRequest = (host: string): boolean => {
    const isOwn = isPrivateHost(host) || isOwnHost(host, monitored, findChain);
    const isGranted = isOwn || parts.takeRequest(host);
    requests[isGranted ? 'granted' : 'refused'] += 1;
    return isGranted;
  };
  const following = {
    ...{ database, rpc, findChain, monitored, takeRequest },
    quorumOf: verification.quorumOf,
    onCreations: () => inbox.wake(),
    onRolledBack: (...replaced: Parameters<typeof rechecks.add>) => rechecks.add(...replaced),
  };
  closers.addFirst(startChainFollowers(following, options.follow ?? {}, log));
  return { wake: () => inbox.wake(), close: () => closers.close() };
}

/** Returns whether a host has an unpublished endpoint: that is the operator's own account, which has its own limits. */
function isOwnHost(
  host: string,
  monitored: () => ReadonlyMap<number, MonitoredChain>,
  findChain: MonitorDependencies['findChain'],
): boolean {
  return [...monitored().keys()].some((chainId) => {
    const chain = findChain(chainId);
    return chain?.endpoints.some((endpoint) => {
      return hostOf(endpoint) === host && (chain.local || !endpoint.public);
    });
  });
}

/** Makes creations due whose bytecode became known since the last check, whichever process added it. */
class NewKnownCodes {
  readonly #database: Database;
  readonly #log: Logger;
  #position: number | undefined;
  #isReadable = true;

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  /** Returns whether new bytecode became known. Never rejects. */
  async requeue(): Promise<boolean> {
    try {
      const newest = await readNewestKnownCode(this.#database);
      const after = this.#position ?? Math.max(0, newest - CODES_AGAIN);
      if (newest > after) await requeueKnownCreations(this.#database, after, newest);
      this.#position = newest;
      this.#isReadable = true;
      return newest > after;
    } catch (error) {
      const facts = { event: 'creations_not_revived', error: messageOf(error) };
      const text = 'found contracts with known bytecode were not retried';
      if (this.#isReadable) this.#log.warn(facts, text);
      this.#isReadable = false;
      return false;
    }
  }
}
