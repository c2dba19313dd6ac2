// The parts of a service or command, opened on first use and closed in order. ¶ Only types are imported
// statically, so that `chains list` does not load the database.
import type { ChainList } from '../chains/list/chain-list.ts';
import { createRegistry, readChainList } from '../chains/registry/load-registry.ts';
import type { Compilers } from '../compilers/compilers.ts';
import type { Config, LoadedConfig } from '../config/config.ts';
import { Closers } from '../lib/closers.ts';
import type { Logger } from '../log.ts';
import type { Publication, PublicationOptions } from '../publication/publication.ts';
import type { Database } from '../store/database.ts';
import type { Store } from '../store/open-store.ts';
import type { Verification } from '../verification/verification.ts';
import type { VerificationParts } from '../verification/verify-contract.ts';
import type { ChainAccess, CurrentRegistry } from './chain-access.ts';
import type { UnlistedContracts } from './open-unlisted.ts';

/** Replaceable parts of a core. */
export interface CoreOverrides {
  /** By default the configured log on standard output. */
  readonly log?: () => Promise<Logger>;
  readonly now?: () => Date;
  readonly openStore?: () => Promise<Store>;
  readonly chainAccess?: (access: ChainAccess) => ChainAccess;
  /** Compilers of verifications, instead of the configured ones. */
  readonly compilersOver?: (compilers: Compilers) => Compilers;
}

/** The chains that a core knows, its name in PostgreSQL, and what its hosts serve. */
export interface CoreOptions extends CoreOverrides {
  /**
   * Known chains: those of the configuration, without reading the database (`configured`); also those that
   * have contracts (`stored`); or those of the current registry, which follows list, reloads and contracts
   * (`published`: a service).
   */
  readonly registry: 'configured' | 'stored' | 'published';
  /** Application name of its connections in PostgreSQL's views. */
  readonly applicationName?: string;
  /** Whether to fail with `no_data` if there is no Fullmatch database, instead of creating one; false by default. */
  readonly mustExist?: boolean;
  /** What hosts serve; a service without hosts publishes nothing over HTTP. */
  readonly served?: PublicationOptions['served'];
}

/**
 * The parts of a service or command. Each is opened on first use, after its dependencies, and its modules are
 * loaded then.
 */
export interface Core {
  readonly loaded: LoadedConfig;
  readonly now: () => Date;
  readonly log: () => Promise<Logger>;
  /** The embedded public list, or the operator's own. */
  readonly list: () => Promise<ChainList>;
  readonly store: () => Promise<Store>;
  /** Begins to open the store; resolves when it only waits for PostgreSQL, and also when it has failed. */
  readonly beginStore: () => Promise<void>;
  readonly registry: () => Promise<CurrentRegistry>;
  readonly chains: () => Promise<ChainAccess>;
  readonly compilers: () => Promise<Compilers>;
  /** Dependencies of a verification: chain access, compilers, and the chains of the registry. */
  readonly verificationParts: () => Promise<
    VerificationParts & Pick<ChainAccess, 'explorerVerifier'>
  >;
  readonly publication: () => Promise<Publication>;
  /** The verification queue and the workers of this process. */
  readonly verification: () => Promise<Verification>;
  /** Unlisted contracts, accessible by token; undefined if the operator disabled them. */
  readonly unlisted: () => Promise<UnlistedContracts | undefined>;
  /** Parts added here close with the core. */
  readonly closers: Closers;
  /**
   * Closes everything that is open or being opened.
   * @throws as {@link Closers.close}
   */
  readonly close: () => Promise<void>;
}

const ignore = (): void => undefined;

async function openStoreOf(
  { database, dataDir }: Config,
  { applicationName, mustExist, registry }: CoreOptions,
  log: Logger,
  onWaiting: () => void,
): Promise<Store> {
  const { openStore } = await import('../store/open-store.ts');
  const wanted = {
    ...database,
    ...(applicationName !== undefined && { applicationName }),
    ...(mustExist !== undefined && { mustExist }),
    ...{ dataDir, watch: registry === 'published', onWaiting },
  };
  return openStore(wanted, log);
}

/** The core of a configuration: store → chains → compilers → publication → verification. Nothing is open yet. */
export function openCore(loaded: LoadedConfig, options: CoreOptions): Core {
  const { config } = loaded;
  const isPublished = options.registry === 'published';
  const now = options.now ?? (() => new Date());
  const closers = new Closers();
  const opening = new Set<Promise<unknown>>();
  const part = <Part>(open: () => Promise<Part>): (() => Promise<Part>) => {
    let opened: Promise<Part> | undefined;
    return () => {
      if (opened === undefined) opening.add((opened = open()));
      return opened;
    };
  };

  const log = part(
    options.log ?? (async () => (await import('../log.ts')).createLogger(config.log.level)),
  );
  const list = part(() => readChainList(config.registry));
  let onWaiting = ignore;
  const waiting = new Promise<void>((resolve) => (onWaiting = resolve));
  const open = options.openStore ?? openStoreOf;
  const store = part(async () => closers.add(await open(config, options, await log(), onWaiting)));
  const publication = part(async () => {
    const read = list();
    // The rejection is received below; the store is opened meanwhile.
    read.catch(() => undefined);
    const { database } = await store();
    const { openPublication } = await import('../publication/publication.ts');
    const { readRegistryInputs } = await import('./registry-inputs.ts');
    const inputs = await readRegistryInputs(loaded, database, await read, await log());
    const { served } = options;
    const opened = closers.add(
      await openPublication(inputs, database, await log(), { now, ...(served && { served }) }),
    );
    if (opened.served !== undefined) closers.addFirst(opened.served.activity);
    return opened;
  });
  const readIds = async (database: Database): Promise<readonly number[]> =>
    (await import('../repository/repository.ts')).readContractChainIds(database);
  const registry = part(async (): Promise<CurrentRegistry> => {
    if (isPublished) return publication();
    const ids = options.registry === 'stored' ? await readIds((await store()).database) : [];
    const { registry: how, chains: configured } = config;
    const sources = { list: await list(), options: how, configured };
    const registry = createRegistry({ ...sources, contractChainIds: ids });
    return { inputs: { ...sources, secrets: loaded.secrets }, registry };
  });
  const chains = part(async () => {
    const { openChainAccess } = await import('./chain-access.ts');
    const opened = openChainAccess(config, await registry(), isPublished, await log());
    closers.add(opened.fetch);
    closers.addFirst(opened.health);
    return options.chainAccess?.(opened) ?? opened;
  });
  const compilers = part(async () => {
    const { openCompilers } = await import('./open-verification.ts');
    const opened = closers.add(await openCompilers(config, (await chains()).fetch, await log()));
    return options.compilersOver?.(opened) ?? opened;
  });
  const verificationParts = part(async () => {
    const { createVerificationParts } = await import('./open-verification.ts');
    const made = createVerificationParts(config, await chains(), await compilers());
    closers.add(made.reader);
    return made;
  });
  const verification = part(async () => {
    const { openVerification } = await import('./open-verification.ts');
    const parts = await verificationParts();
    const [opened, logged, explorers] = [await store(), await log(), parts.explorerVerifier];
    return closers.addFirst(await openVerification(config, opened, parts, logged, explorers));
  });
  const unlisted = part(async () => {
    if (!config.access.unlisted) return undefined;
    const { openUnlisted } = await import('./open-unlisted.ts');
    return openUnlisted(config, { store, publication, verificationParts, log, closers });
  });
  return {
    // A failure is thrown by whatever needs the store.
    beginStore: () => Promise.race([waiting, store().then(ignore, ignore)]),
    ...{ loaded, now, log, list, store, publication, registry, chains, compilers },
    ...{ verificationParts, verification, unlisted, closers },
    close: async () => {
      await Promise.allSettled(opening);
      await closers.close();
    },
  };
}
