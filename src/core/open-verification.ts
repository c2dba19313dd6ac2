import { type CompilerSources } from '../compilers/sources/compiler-finder.ts';
import { createCompilers, type Compilers } from '../compilers/compilers.ts';
import { type Config } from '../config/config.ts';
import { type GuardedFetch } from '../lib/guarded-fetch.ts';
import { type Logger } from '../log.ts';
import { type Store } from '../store/open-store.ts';
import { startVerification, type Verification } from '../verification/verification.ts';
import { type VerificationParts } from '../verification/verify-contract.ts';

/** Where compilers come from: the folder, installed packages, and the mirror if one is configured. */
export function compilerSourcesOf(
  { compilers: { folder, downloadUrl } }: Config,
  fetch: GuardedFetch,
): CompilerSources {
  return {
    directory: folder,
    ...(downloadUrl !== undefined && {
      download: { baseUrl: downloadUrl, directory: folder, fetch },
    }),
  };
}

/** Opens the compilers with the sources and limits of the configuration. */
export function openCompilers(
  config: Config,
  fetch: GuardedFetch,
  log: Logger,
): Promise<Compilers> {
  const { timeoutMs, memoryBytes } = config.compilers;
  return createCompilers(
    {
      sources: compilerSourcesOf(config, fetch),
      limits: { wallTimeMs: timeoutMs, memoryBytes },
      workers: Math.max(1, config.verification.workers),
    },
    log,
  );
}

/** The queue of verifications, and the workers of this process. */
export function openVerification(
  { verification: options }: Config,
  { database, requireSpace }: Store,
  parts: VerificationParts,
  log: Logger,
): Promise<Verification> {
  const { workers, jobTimeoutMs } = options;
  return startVerification(
    database,
    parts,
    {
      workers,
      jobTimeoutMs,
      queue: { total: options.queueLimit, perClient: options.clientQueueLimit },
      waiters: {
        total: options.waitingRequests,
        perClient: options.clientWaitingRequests,
        perJob: options.jobWaitingRequests,
      },
      requireSpace,
    },
    log,
  );
}
