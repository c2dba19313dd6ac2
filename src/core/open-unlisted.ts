import { type Config } from '../config/config.ts';
import { type Closers } from '../lib/closers.ts';
import { type Logger } from '../log.ts';
import { UNLISTED_SCHEMA } from '../repository/repository.ts';
import { type Database } from '../store/database.ts';
import { type Store } from '../store/open-store.ts';
import { startRecheckWalk } from '../verification/recheck/recheck-walk.ts';
import { type Verification } from '../verification/verification.ts';
import { openVerification } from './open-verification.ts';

/** Unlisted contracts, accessible by token: their own tables, queue and workers, which nothing published reads. */
export interface UnlistedContracts {
  readonly database: Database;
  readonly verification: Verification;
}

/** Parts of a core that unlisted contracts share with the others. */
interface SharedParts {
  readonly store: () => Promise<Store>;
  readonly publication: () => Promise<{
    readonly inputs: { readonly configured: ReadonlyMap<number, unknown> };
  }>;
  readonly verificationParts: () => Promise<Parameters<typeof openVerification>[2]>;
  readonly log: () => Promise<Logger>;
  readonly closers: Closers;
}

/** Opens the tables of unlisted contracts, and starts verifying and rechecking them. */
export async function openUnlisted(
  config: Config,
  shared: SharedParts,
): Promise<UnlistedContracts> {
  const { closers } = shared;
  const { verification: options } = config;
  const [store, publication] = [await shared.store(), await shared.publication()];
  const [parts, log] = [await shared.verificationParts(), await shared.log()];
  const database = await store.openSchema(UNLISTED_SCHEMA);
  // No explorer is notified, and the queue has few clients.
  const workers = Math.min(1, options.workers);
  const verification = closers.addFirst(
    await openVerification(
      { ...config, verification: { ...options, workers } },
      { ...store, database },
      parts,
      log,
    ),
  );
  const configured = (): number[] => [...publication.inputs.configured.keys()];
  const { recheckRoundSeconds: roundSeconds } = options;
  closers.addFirst(startRecheckWalk(database, parts, configured, { roundSeconds }, log));
  return { database, verification };
}
