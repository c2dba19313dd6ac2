import { type ExplorerName } from '../../chains/explorer/explorer-verifier.ts';
import { type ExternalVerification } from '../forwarding/forwarded-matches.ts';
import { type Hex } from '../../lib/hex.ts';
import { printableText } from '../../lib/printable-text.ts';
import type { Match } from '../../repository/repository.ts';
import { type SettingChanges } from '../../solidity/setting-changes.ts';
import { type CompilerDownload } from './awaited-compilers.ts';
import { type FailureRecord } from './failure-record.ts';
import { type ComparedCodes, type FailureCode, type FailureKind } from '../verification-failure.ts';

/** States of a verification job, in order. */
export const JOB_STATES = ['queued', 'running', 'succeeded', 'failed'] as const;

/** State of a verification job. `succeeded` and `failed` are final. */
export type VerificationJobState = (typeof JOB_STATES)[number];

/** The public reason why a job failed. */
export interface JobFailure {
  /** A code of {@link file://./verification-failure.ts}. */
  readonly code: string;
  readonly message: string;
  /** A UUID that identifies the failure in the log. */
  readonly id: string;
  readonly data?: Readonly<Record<string, unknown>>;
  /** The compared bytecodes that are stored completely. */
  readonly codes?: ComparedCodes;
  /** The same with hashes and lengths; only windows of large bytecodes. */
  readonly comparedCodes?: Pick<FailureRecord, 'runtime' | 'creation'>;
}

/** Submitted sources that the compilation does not need, and that are not published. */
export interface DroppedSources {
  readonly count: number;
  /** The first paths, in printable form. */
  readonly paths: readonly string[];
}

/** A verification job, without its request. */
export interface VerificationJob {
  readonly id: string;
  readonly state: VerificationJobState;
  readonly chainId: number;
  readonly address: Hex;
  readonly createdAt: Date;
  readonly startedAt?: Date;
  readonly finishedAt?: Date;
  readonly compileTimeMs?: number;
  /** The matches that this job found; null before it ends, or if there is none. */
  readonly runtimeMatch: Match | null;
  readonly creationMatch: Match | null;
  /** The event of the match that it stored; absent if an equal or better one was already stored. */
  readonly eventNumber?: string;
  /** Whether the sources were stored as an alternative to the match that is shown. */
  readonly keptBeside: boolean;
  /** Absent if every source is needed. */
  readonly droppedSources?: DroppedSources;
  /** Settings that were changed for the match; absent if the submitted ones match. */
  readonly changedSettings?: SettingChanges;
  /** Download of the compiler that the queued job waits for. */
  readonly compilerDownload?: CompilerDownload;
  /** State of the match at other explorers, by explorer name. */
  readonly external?: Readonly<Partial<Record<ExplorerName, ExternalVerification>>>;
  readonly failure?: JobFailure;
}

const DROPPED_SHOWN = 20;
const PATH_SHOWN_CHARACTERS = 200;

/** Returns dropped sources in their public form; undefined if there are none. */
export function toDroppedSources(paths: readonly string[]): DroppedSources | undefined {
  if (paths.length === 0) return undefined;
  const shown = paths.slice(0, DROPPED_SHOWN);
  return {
    count: paths.length,
    paths: shown.map((path) => printableText(path, PATH_SHOWN_CHARACTERS)),
  };
}

/** How a job ended. */
export interface JobEnd {
  readonly kind: 'match' | FailureKind;
  /** The better of the two matches, or the failure code. */
  readonly outcome: Match | FailureCode;
  /** Seconds since a worker took it, counted from the first worker if some were lost. Absent if no worker took it. */
  readonly seconds?: number;
}

/** Returns whether the job has succeeded or failed, and is therefore final. */
export function isFinished({ state }: Pick<VerificationJob, 'state'>): boolean {
  return state === 'succeeded' || state === 'failed';
}
