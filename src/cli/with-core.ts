import { type LoadedConfig } from '../config/config.ts';
import { type Core, type CoreOptions, openCore } from '../core/open-core.ts';
import { type Database } from '../store/database.ts';
import { type CliContext } from './cli-context.ts';
import { loadCommandConfig, type ParsedOptions } from './config-options.ts';

/** Options of {@link withCore}. */
export interface CommandCore {
  /** Chains that the command knows (`configured`), see {@link CoreOptions}. */
  readonly registry?: Exclude<CoreOptions['registry'], 'published'>;
  /** Whether the command may create a missing database; false by default. */
  readonly mayCreate?: boolean;
  /** Changes that the command makes to its configuration. */
  readonly adapt?: (loaded: LoadedConfig) => LoadedConfig;
}

/**
 * Runs `work` with the core of a command's configuration, and always closes what the core opened. If a
 * service is running, the store uses its embedded server.
 * @throws FullmatchError as loadConfig and the parts of the core
 */
export async function withCore<T>(
  options: ParsedOptions,
  context: CliContext,
  command: string,
  work: (core: Core) => Promise<T>,
  { registry = 'configured', mayCreate = false, adapt = (loaded) => loaded }: CommandCore = {},
): Promise<T> {
  const loaded = adapt(loadCommandConfig(options, context));
  const core = openCore(loaded, {
    ...context.overrides,
    registry,
    mustExist: !mayCreate,
    applicationName: `fullmatch ${command}`,
    // Commands that only print need no log, so its modules are loaded on demand.
    log: async () => (await import('./terminal-log.ts')).createCommandLog(loaded, context),
  });
  try {
    return await work(core);
  } finally {
    await core.close();
  }
}

/** Runs `work` with the database of a command's configuration. @throws as {@link withCore} */
export function withDatabase<T>(
  options: ParsedOptions,
  context: CliContext,
  command: string,
  work: (database: Database) => Promise<T>,
  parts: CommandCore = {},
): Promise<T> {
  const onDatabase = async (core: Core): Promise<T> => work((await core.store()).database);
  return withCore(options, context, command, onDatabase, parts);
}
