import path from 'node:path';
import { type CompilerSources } from '../compilers/sources/compiler-finder.ts';
import { createCompilers, type Compilers } from '../compilers/compilers.ts';
import { type Config } from '../config/config.ts';
import { type GuardedFetch } from '../lib/guarded-fetch.ts';
import { type Logger } from '../log.ts';
import { type Store } from '../store/open-store.ts';
import { createJobReader } from '../verification/compilation/job-reader.ts';
import { withOutputCache } from '../verification/compilation/output-cache.ts';
import { startVerification, type Verification } from '../verification/verification.ts';
import { type ChainAccess } from './chain-access.ts';

/** Minimum number of clients that share the pending requests. */
const WAITING_CLIENTS = 10;

/** Folder of downloads within the compiler folder; compilers that the operator put there are never removed. */
const DOWNLOADS = 'downloads';

/** Sources of compilers: the folder, installed packages, and the official binaries or a mirror of them. */
export function compilerSourcesOf(
  { compilers: { folder, downloadUrl, vyperDownloadUrl, downloadBytes } }: Config,
  fetch: GuardedFetch,
): CompilerSources {
  const directory = path.join(folder, DOWNLOADS);
  const from = (baseUrl: string) => ({ baseUrl, directory, maxBytes: downloadBytes, fetch });
  if (downloadUrl === 'off') return { directory: folder };
  return {
    directory: folder,
    download: from(downloadUrl),
    ...(vyperDownloadUrl !== 'off' && { vyperDownload: from(vyperDownloadUrl) }),
  };
}

/** Opens the compilers with the configured sources and limits. */
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

/** Dependencies of verifications; the caller must close the reader. */
export function createVerificationParts(
  { limits: { sourceBytes }, verification: { diagnosisMs } }: Config,
  chains: ChainAccess,
  compilers: Compilers,
) {
  const reader = createJobReader();
  return { ...chains, compilers: withOutputCache(compilers), reader, sourceBytes, diagnosisMs };
}

/**
 * The verification queue and the workers of this process.
 * @param explorers explorers that receive matches
 */
export function openVerification(
  { verification: options }: Config,
  { database, requireSpace }: Store,
  parts: Parameters<typeof startVerification>[1],
  log: Logger,
  explorers?: ChainAccess['explorerVerifier'],
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
        perClient: Math.ceil(options.waitingRequests / WAITING_CLIENTS),
      },
      requireSpace,
      ...(explorers && { explorersOf: (chainId: number) => explorers.explorersOf(chainId) }),
    },
    log,
  );
}
