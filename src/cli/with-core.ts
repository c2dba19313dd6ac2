import { type LoadedConfig } from '../config/config.ts';
import { type Core, type CoreOptions, openCore } from '../core/open-core.ts';
import { type Database } from '../store/database.ts';
import { type CliContext } from './cli-context.ts';
import { loadCommandConfig, type ParsedOptions } from './config-options.ts';

/** What {@link withCore} may be told. */
export interface CommandCore {
  /** Which chains the command knows (`configured`), see {@link CoreOptions}. */
  readonly registry?: Exclude<CoreOptions['registry'], 'published'>;
  /** Whether the command makes a database where there is none; false unless told. */
  readonly mayCreate?: boolean;
  /** What the command changes of its configuration. */
  readonly adapt?: (loaded: LoadedConfig) => LoadedConfig;
}

/**
 * Runs `work` with the core of a command's configuration, and closes what was opened of it whatever happens. Beside a
 * running service its store joins the service's embedded server.
 * @throws FullmatchError as loadConfig and the parts of the core do
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
    registry,
    mustExist: !mayCreate,
    applicationName: `fullmatch ${command}`,
    // What is only printed needs no log, and its modules are not loaded.
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
