import { type ExplorerName } from '../../chains/explorer/explorer-verifier.ts';
import { type ExternalVerification } from '../forwarding/forwarded-matches.ts';
import { type Hex } from '../../lib/hex.ts';
import { printableText } from '../../lib/printable-text.ts';
import type { Match } from '../../repository/repository.ts';
import { type CompilerDownload } from './awaited-compilers.ts';
import { type FailureRecord } from './failure-record.ts';
import { type ComparedCodes, type FailureCode, type FailureKind } from '../verification-failure.ts';

/** Where a verification job may stand, in the order in which it gets there. */
export const JOB_STATES = ['queued', 'running', 'succeeded', 'failed'] as const;

/** Where a verification job stands. `succeeded` and `failed` are its ends. */
export type VerificationJobState = (typeof JOB_STATES)[number];

/** Why a job failed, as anyone may see it. */
export interface JobFailure {
  /** A code of {@link file://./verification-failure.ts}. */
  readonly code: string;
  readonly message: string;
  /** A UUID, under which the log says more. */
  readonly id: string;
  readonly data?: Readonly<Record<string, unknown>>;
  /** The codes that were compared, where they are kept whole. */
  readonly codes?: ComparedCodes;
  /** The same with their hashes and lengths, as windows where they are large. */
  readonly comparedCodes?: Pick<FailureRecord, 'runtime' | 'creation'>;
}

/** The sources of a submission that its compilation does not need, and that are not published. */
export interface DroppedSources {
  readonly count: number;
  /** The first ones, printable. */
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
  /** The matches that this job found; null before its end and without one. */
  readonly runtimeMatch: Match | null;
  readonly creationMatch: Match | null;
  /** The event of the match that it stored; absent when an equal or better one was there. */
  readonly eventNumber?: string;
  /** Whether nothing was stored as the match, and the text was kept beside the shown one. */
  readonly keptBeside: boolean;
  /** Absent where every source is needed. */
  readonly droppedSources?: DroppedSources;
  /** The compiler that it waits for in the queue, and how far its download has come. */
  readonly compilerDownload?: CompilerDownload;
  /** What other explorers were told of the match, by their names. */
  readonly external?: Readonly<Partial<Record<ExplorerName, ExternalVerification>>>;
  readonly failure?: JobFailure;
}

const DROPPED_SHOWN = 20;
const PATH_SHOWN_CHARACTERS = 200;

/** Dropped sources as they are shown; undefined where there are none. */
export function toDroppedSources(paths: readonly string[]): DroppedSources | undefined {
  if (paths.length === 0) return undefined;
  const shown = paths.slice(0, DROPPED_SHOWN);
  return {
    count: paths.length,
    paths: shown.map((path) => printableText(path, PATH_SHOWN_CHARACTERS)),
  };
}

/** How a job came to its end. */
export interface JobEnd {
  readonly kind: 'match' | FailureKind;
  /** The better of both matches, or the code of the failure. */
  readonly outcome: Match | FailureCode;
  /**
   * From the moment at which a worker took it; the first one, where workers were lost. Absent where no worker took it.
   */
  readonly seconds?: number;
}

/** Whether the job has succeeded or failed, so that nothing of it changes any more. */
export function isFinished({ state }: Pick<VerificationJob, 'state'>): boolean {
  return state === 'succeeded' || state === 'failed';
}
