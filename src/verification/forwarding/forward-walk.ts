import {
  type ExplorerResponse,
  type ExplorerSubmission,
  type ExplorerVerifier,
} from '../../chains/explorer/explorer-verifier.ts';
import { messageOf } from '../../errors.ts';
import { isMembers, type Members } from '../../lib/members.ts';
import { repeatUntilClosed } from '../../lib/repeat.ts';
import { type Logger } from '../../log.ts';
import { type ContractReader, parseSections } from '../../repository/repository.ts';
import { type Database } from '../../store/database.ts';
import { describeStoredTask } from '../known-codes/stored-task.ts';
import {
  type DueForwarding,
  type ExternalVerification,
  releaseForwarding,
  recordForwarding,
  leaseDueForwarding,
} from './forwarded-matches.ts';

/** Lease of a forwarding; longer than an explorer takes to respond. */
const LEASE_MS = 120_000;
/** Intervals between two polls of the queue, and between two requests to explorers. */
const PAUSE_MS = 5_000;
const GAP_MS = 250;
/** Explorers index a contract several blocks after its creation, and verify it within a minute or two. */
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 30 * 60_000;
const MAX_ATTEMPTS = 12;
const SECTIONS = ['compilation', 'sources', 'artifacts', 'creationCode'] as const;

/** Intervals of the walk; tests use shorter ones. */
export interface ForwardTimes {
  readonly pauseMs?: number;
  readonly firstPauseMs?: number;
}

/**
 * Forwards the matches that jobs stored to other explorers and polls their progress, one at a time. All
 * processes of a database share the queue. Failed attempts are retried with increasing delays.
 */
export function startForwarding(
  database: Database,
  contracts: Pick<ContractReader, 'readRecord'>,
  explorers: ExplorerVerifier,
  log: Logger,
  { pauseMs = PAUSE_MS, firstPauseMs = FIRST_PAUSE_MS }: ForwardTimes = {},
): { close(): Promise<void> } {
  const step = async (signal: AbortSignal): Promise<number> => {
    const due = await leaseDueForwarding(database, LEASE_MS);
    if (due === undefined) return pauseMs;
    let response: ExplorerResponse;
    try {
      signal.throwIfAborted();
      response = await submitOrPoll(contracts, explorers, due, signal);
    } catch (error) {
      if (!signal.aborted) {
        const { jobId: job, explorer } = due;
        const facts = { event: 'forwarding_failed', job, explorer, error: messageOf(error) };
        log.warn(facts, 'a match could not be forwarded');
        return pauseMs;
      }
      await releaseForwarding(database, due);
      return 0;
    }
    const outcome = stateAfter(due, response);
    const { chainId, address, explorer } = due;
    const links = explorers.linksOf(explorer, chainId, address, outcome.externalId ?? undefined);
    const pause = Math.min(MAX_PAUSE_MS, firstPauseMs * 2 ** (due.attempts - 1));
    await recordForwarding(database, due, { ...outcome, links }, pause);
    const facts = { event: 'match_forwarded', job: due.jobId, explorer, state: outcome.state };
    log.info(facts, 'a match was forwarded to another explorer');
    return GAP_MS;
  };
  return repeatUntilClosed(step, {
    retryMs: pauseMs,
    onFailure: (error) =>
      log.warn(
        { event: 'forwarding_failed', error: messageOf(error) },
        'matches cannot be forwarded at the moment',
      ),
  });
}

async function submitOrPoll(
  contracts: Pick<ContractReader, 'readRecord'>,
  explorers: ExplorerVerifier,
  { explorer, chainId, address, externalId }: DueForwarding,
  signal: AbortSignal,
): Promise<ExplorerResponse> {
  if (!explorers.explorersOf(chainId).includes(explorer)) {
    return { kind: 'refused', reason: 'Forwarding to this explorer is no longer configured.' };
  }
  if (externalId !== undefined) return explorers.check(explorer, chainId, externalId, signal);
  const submission = await readSubmission(contracts, chainId, address);
  return submission === undefined
    ? { kind: 'refused', reason: 'The match was withdrawn before it was forwarded.' }
    : explorers.submit(explorer, submission, signal);
}

/**
 * Returns the state after an explorer's response. If it returns an id, it has only accepted the request; the
 * verdict comes later.
 */
function stateAfter(
  { state, externalId, attempts }: DueForwarding,
  response: ExplorerResponse,
): Omit<ExternalVerification, 'links'> {
  const known = externalId === undefined ? {} : { externalId };
  switch (response.kind) {
    case 'verified':
      return { state: 'verified', ...known };
    case 'accepted':
      return externalId === undefined
        ? { state: 'submitted', externalId: response.id }
        : { state: 'verified', ...known };
    case 'refused':
      return { state: 'failed', error: response.reason, ...known };
    case 'pending':
    case 'later': {
      const error = response.kind === 'later' ? { error: response.reason } : {};
      if (attempts < MAX_ATTEMPTS) return { state, ...known, ...error };
      return { state: 'failed', error: 'The explorer did not finish in time.', ...known, ...error };
    }
  }
}

/** Builds the submission to an explorer; returns undefined if the contract no longer has a match. */
async function readSubmission(
  contracts: Pick<ContractReader, 'readRecord'>,
  chainId: number,
  address: DueForwarding['address'],
): Promise<ExplorerSubmission | undefined> {
  const record = await contracts.readRecord(chainId, address, SECTIONS);
  if (record === undefined) return undefined;
  const { compilation, sources = [], artifacts, creationCode } = parseSections(record.sections);
  if (compilation === undefined) return undefined;
  const more = artifacts?.['input'];
  const members = isMembers(more)
    ? Object.entries(more).map(([name, text]) => [name, JSON.parse(String(text))] as const)
    : [];
  const stored = describeStoredTask({ ...compilation, sources }, compilation.fullyQualifiedName);
  const input = { ...stored.input, ...(Object.fromEntries(members) as Members) };
  const given = creationCode?.values?.constructorArguments;
  return {
    ...{ chainId, address, contract: compilation.fullyQualifiedName },
    compilerVersion: compilation.version,
    input: JSON.stringify(input),
    isVyper: compilation.language === 'vyper',
    constructorArguments: typeof given === 'string' ? given.slice(2) : '',
  };
}
