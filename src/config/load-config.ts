import path from 'node:path';
import { type Config, type LoadedConfig } from './config.ts';
import { readChains, readChainsDirectory, type ChainValidator } from './chain-entries.ts';
import { type Environment } from './environment.ts';
import { type NamedSecret } from '../lib/secret.ts';
import { readConfigFile, type ConfigFile, type FileReader } from './file.ts';
import {
  readFlags,
  readTree,
  readVariables,
  reportUnknownVariables,
  type Flags,
  type Layer,
  type LayerValue,
} from './layers.ts';
import { Problems } from './problems.ts';
import {
  CONFIG_VARIABLE,
  SETTING_KEYS,
  settingOf,
  type SettingKey,
  type SettingValue,
} from './schema.ts';
import { databaseSecrets, SecretReader } from './secrets.ts';
import { parseYaml, type YamlEntry } from './yaml-tree.ts';

/** Everything that a configuration is made from. Nothing else is read. */
export interface ConfigSources {
  readonly flags: Flags;
  readonly environment: Environment;
  readonly files: FileReader;
  /** An absolute path. */
  readonly workingDirectory: string;
  readonly validateChain: ChainValidator;
}

/**
 * The configuration: flags over environment over file over defaults, each source judged as a whole,
 * so that a value that is overridden must be sound too. Pure but for what `sources.files` reads.
 *
 * @throws FullmatchError `invalid_configuration`, `unknown_configuration_key`, `configuration_file_unreadable`,
 *   `environment_variable_missing`: one error with all problems, under `details.problems` too
 */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const { flags, environment, files, workingDirectory } = sources;
  const problems = new Problems();
  const secretReader = new SecretReader(environment, files, workingDirectory);
  const file = readFile(sources, problems);
  const tree = readFileTree(file, problems);
  const settled = new Settled([
    readFlags(flags, workingDirectory, problems),
    readVariables(environment, secretReader, workingDirectory, problems),
    tree.layer,
    readDefaults(workingDirectory, file?.folder ?? workingDirectory),
  ]);
  const chainsFolder = settled.layerValue('chainsDirectory');
  const configured = readChains(
    [
      ...(tree.chains === undefined || file === undefined
        ? []
        : [{ file: file.name, node: tree.chains.value }]),
      ...readChainsDirectory(
        settled.path('chainsDirectory') ?? '',
        {
          // The example file spells the default out, and still need not have the folder.
          required: chainsFolder?.value !== settingOf('chainsDirectory').default,
          workingDirectory,
          where: chainsFolder?.origin ?? 'default',
        },
        files,
        problems,
      ),
    ],
    secretReader,
    sources.validateChain,
    problems,
  );
  reportUnknownVariables(environment, secretReader, problems);
  checkTogether(settled, problems);
  problems.throwIfAny();

  const origins = new Map<string, string>();
  for (const key of SETTING_KEYS) origins.set(key, settled.layerValue(key)?.origin ?? 'default');
  for (const [chainId, name] of configured.files) origins.set(`chains.${chainId}`, name);
  return {
    config: assemble(settled, configured.chains),
    origins,
    secrets: [...databaseUrlSecrets(settled), ...configured.secrets],
    ...(file === undefined ? {} : { file: file.name }),
    ...optional('chainsDirectory', settled.path('chainsDirectory')),
  };
}

function readFile(sources: ConfigSources, problems: Problems): ConfigFile | undefined {
  const { flags, environment, files, workingDirectory } = sources;
  const fromFlag = flags.config !== undefined;
  const named = flags.config ?? environment[CONFIG_VARIABLE];
  const where = fromFlag
    ? 'flag --config'
    : named === undefined
      ? 'configuration file'
      : `environment ${CONFIG_VARIABLE}`;
  return problems.attempt(where, 'config', () => readConfigFile(files, workingDirectory, named));
}

function readFileTree(
  file: ConfigFile | undefined,
  problems: Problems,
): { layer: Layer; chains?: YamlEntry } {
  const root = file === undefined ? undefined : parseYaml(file, problems);
  return file === undefined || root === undefined
    ? { layer: new Map() }
    : readTree(root, file, problems);
}

/** The data directory begins at the working directory, the chains folder beside the file. */
function readDefaults(workingDirectory: string, fileFolder: string): Layer {
  const layer = new Map<SettingKey, LayerValue>();
  for (const key of SETTING_KEYS) {
    const value = settingOf(key).default;
    const folder = key === 'chainsDirectory' ? fileFolder : workingDirectory;
    if (value !== undefined) layer.set(key, { value, origin: 'default', folder });
  }
  return layer;
}

/** The value of each key from the first layer that gives one. */
class Settled {
  readonly #layers: readonly Layer[];

  constructor(layers: readonly Layer[]) {
    this.#layers = layers;
  }

  layerValue(key: SettingKey): LayerValue | undefined {
    return this.#layers.find((layer) => layer.has(key))?.get(key);
  }

  /** The value, whose type the key's own schema has checked. */
  get<Key extends SettingKey>(key: Key): SettledValue<Key> {
    return this.layerValue(key)?.value as SettledValue<Key>;
  }

  /** The value as an absolute path. */
  path(key: SettingKey): string | undefined {
    const found = this.layerValue(key);
    return typeof found?.value === 'string' ? path.resolve(found.folder, found.value) : undefined;
  }

  /** URLs as they are, everything else as absolute paths. */
  sources(key: 'registry.sync.urls'): readonly string[] {
    const folder = this.layerValue(key)?.folder ?? '/';
    return this.get(key).map((source) =>
      /^https?:/i.test(source) ? source : path.resolve(folder, source),
    );
  }
}

/** `database.url` is text in its sources and hidden from then on. */
type SettledValue<Key extends SettingKey> = Key extends 'database.url'
  ? Config['database']['url']
  : SettingValue<Key>;

/** The database's URL under the name by which the operator set it. */
function databaseUrlSecrets(settled: Settled): readonly NamedSecret[] {
  const url = settled.get('database.url');
  if (url === undefined) return [];
  const variable = /^environment (.*)/.exec(settled.layerValue('database.url')?.origin ?? '')?.[1];
  return databaseSecrets(variable ?? 'database.url', url);
}

/** What no key can say alone. */
function checkTogether(settled: Settled, problems: Problems): void {
  const originOf = (key: SettingKey) => settled.layerValue(key)?.origin ?? 'default';
  const report = (key: SettingKey, message: string) =>
    problems.add({ code: 'invalid_configuration', where: originOf(key), key, message });

  const listeners = (['api', 'repository', 'metrics'] as const).filter((name) =>
    settled.get(`${name}.enabled`),
  );
  for (const [index, name] of listeners.entries()) {
    const port = settled.get(`${name}.port`);
    const other = listeners
      .slice(0, index)
      .find((earlier) => settled.get(`${earlier}.port`) === port);
    if (other === undefined || port === 0) continue;
    report(
      `${name}.port`,
      `${other}.port (${originOf(`${other}.port`)}) and ${name}.port are both ${port}; give each its own, or 0 for a free one`,
    );
  }
  if (!settled.get('api.enabled') && !settled.get('repository.enabled')) {
    report('api.enabled', 'api.enabled and repository.enabled are both false; enable one of them');
  }
  if (settled.get('limits.headersTimeoutMs') > settled.get('limits.requestTimeoutMs')) {
    report(
      'limits.headersTimeoutMs',
      'limits.headersTimeoutMs is longer than limits.requestTimeoutMs, which includes it; make it shorter',
    );
  }
}

function assemble(settled: Settled, chains: Config['chains']): Config {
  const value = settled.get.bind(settled);
  return {
    host: value('host'),
    api: {
      enabled: value('api.enabled'),
      port: value('api.port'),
      prefix: value('api.prefix'),
      ...optional('publicUrl', value('api.publicUrl')),
    },
    repository: {
      enabled: value('repository.enabled'),
      port: value('repository.port'),
      ...optional('publicUrl', value('repository.publicUrl')),
    },
    http: { trustedProxies: value('http.trustedProxies') },
    metrics: { enabled: value('metrics.enabled'), port: value('metrics.port') },
    dataDir: settled.path('dataDir') ?? '',
    database: {
      ...optional('url', value('database.url')),
      poolSize: value('database.poolSize'),
      minFreeBytes: value('database.minFreeBytes'),
      ...optional('binaries', settled.path('database.binaries')),
    },
    registry: {
      include: value('registry.include'),
      ...optional('list', settled.path('registry.list')),
      defaults: value('registry.defaults'),
      localChains: value('registry.localChains'),
      ...optional('icons', settled.path('registry.icons')),
      sync: {
        urls: settled.sources('registry.sync.urls'),
        everySeconds: value('registry.sync.everySeconds'),
        maxShrinkPercent: value('registry.sync.maxShrinkPercent'),
      },
    },
    chains,
    verification: {
      workers: value('verification.workers'),
      queueLimit: value('verification.queueLimit'),
      clientQueueLimit: value('verification.clientQueueLimit'),
      waitingRequests: value('verification.waitingRequests'),
      clientWaitingRequests: value('verification.clientWaitingRequests'),
      jobWaitingRequests: value('verification.jobWaitingRequests'),
      jobTimeoutMs: value('verification.jobTimeoutMs'),
      recheckPerHour: value('verification.recheckPerHour'),
      requestBytes: value('verification.requestBytes'),
    },
    compilers: {
      folder:
        settled.path('compilers.folder') ?? path.join(settled.path('dataDir') ?? '', 'compilers'),
      ...optional('downloadUrl', value('compilers.downloadUrl')),
      timeoutMs: value('compilers.timeoutMs'),
      memoryBytes: value('compilers.memoryBytes'),
    },
    events: {
      maxClients: value('events.maxClients'),
      connectionsPerClient: value('events.connectionsPerClient'),
    },
    health: {
      enabled: value('health.enabled'),
      everySeconds: value('health.everySeconds'),
      dailyBudget: value('health.dailyBudget'),
    },
    log: { level: value('log.level'), format: value('log.format') },
    limits: {
      requestBytes: value('limits.requestBytes'),
      bodyMemoryBytes: value('limits.bodyMemoryBytes'),
      bodySpoolBytes: value('limits.bodySpoolBytes'),
      clientBodyBytes: value('limits.clientBodyBytes'),
      answerCacheBytes: value('limits.answerCacheBytes'),
      answerBytes: value('limits.answerBytes'),
      clientAnswerBytes: value('limits.clientAnswerBytes'),
      jsonDepth: value('limits.jsonDepth'),
      jsonValues: value('limits.jsonValues'),
      sources: value('limits.sources'),
      sourceBytes: value('limits.sourceBytes'),
      headerBytes: value('limits.headerBytes'),
      requestTimeoutMs: value('limits.requestTimeoutMs'),
      headersTimeoutMs: value('limits.headersTimeoutMs'),
      keepAliveTimeoutMs: value('limits.keepAliveTimeoutMs'),
      shutdownTimeoutMs: value('limits.shutdownTimeoutMs'),
    },
  };
}

/** The member when it is set, nothing when it is not: an optional key is absent, never undefined. */
function optional<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): Partial<Record<Name, Value>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, Value>);
}
