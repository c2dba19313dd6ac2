// Builds one validated configuration from flags, environment and file.
import path from 'node:path';
import { type Members } from '../lib/members.ts';
import { type NamedSecret } from '../lib/secret.ts';
import { ChainReader, readChainsDirectory, type ChainValidator } from './chain-entries.ts';
import { type Config, type LoadedConfig } from './config.ts';
import { type Environment } from './environment.ts';
import { readConfigFile, type ConfigFile, type FileReader } from './file.ts';
import {
  readFlags,
  readTree,
  readVariables,
  reportUnknownVariables,
  type Flags,
  type Layer,
} from './layers.ts';
import { Problems } from './problems.ts';
import { CONFIG_VARIABLE, SETTINGS, type SettingKey } from './settings.ts';
import { databaseSecrets, SecretReader } from './secrets.ts';
import { parseYaml } from './yaml-file.ts';

/** Sources of a configuration. Nothing else is read. */
export interface ConfigSources {
  readonly flags: Flags;
  readonly environment: Environment;
  readonly files: FileReader;
  /** An absolute path. */
  readonly workingDirectory: string;
  readonly validateChain: ChainValidator;
}

/**
 * Loads the configuration: flags override the environment, which overrides the file, which overrides defaults.
 * Each source is validated as a whole, so an overridden value must be valid too. Pure apart from `sources.files`.
 *
 * @throws FullmatchError `invalid_configuration`, `unknown_configuration_key`, `configuration_file_unreadable`,
 *   `environment_variable_missing`: one error with all problems, under `details.problems` too
 */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const { environment, files, workingDirectory } = sources;
  const problems = new Problems();
  const secretReader = new SecretReader(environment, files, workingDirectory);
  const file = readFile(sources, problems);
  const yaml = file && parseYaml(file, problems);
  const inFile = file && yaml ? readTree(yaml, file.folder, problems) : [];
  const inFlags = readFlags(sources.flags, workingDirectory, problems);
  const inVariables = readVariables(environment, secretReader, workingDirectory, problems);
  const given: Layer = new Map([...inFile, ...inVariables, ...inFlags]);
  const settled = settle(given, workingDirectory, file?.folder ?? workingDirectory);

  const originOf = (key: SettingKey) => given.get(key)?.origin ?? 'default';
  const folder = {
    path: settled.chainsDirectory,
    where: originOf('chainsDirectory'),
    // The example file spells out the default, and with that default the folder is optional too.
    required: ![undefined, SETTINGS.get('chainsDirectory')?.default].includes(
      given.get('chainsDirectory')?.value,
    ),
  };
  const place = yaml?.place.below.get('chains');
  const chainFiles = readChainsDirectory(folder, sources, problems);
  const chains = new ChainReader(secretReader, sources.validateChain, problems);
  if (yaml && place) chains.read({ ...yaml, value: (yaml.value as Members)['chains'], place });
  for (const chainFile of chainFiles) chains.read(chainFile);
  reportUnknownVariables(environment, secretReader, problems);
  checkTogether(settled, originOf, problems);
  problems.throwIfAny();

  const origins = [...SETTINGS.keys()].map((key) => [key, originOf(key)] as const);
  const chainOrigins = [...chains.files].map(([id, name]) => [`chains.${id}`, name] as const);
  return {
    config: { ...settled, chains: chains.chains },
    origins: new Map([...origins, ...chainOrigins]),
    secrets: [
      ...DATABASE_URLS.flatMap((name) =>
        databaseUrlSecrets(name, settled.database[name], originOf(`database.${name}`)),
      ),
      ...keySecrets(settled),
      ...chains.secrets,
    ],
    ...(file && { file: file.name }),
  };
}

function readFile(
  { flags, environment, files, workingDirectory }: ConfigSources,
  problems: Problems,
): ConfigFile | undefined {
  const named = flags.config ?? environment[CONFIG_VARIABLE];
  const inEnvironment =
    named === undefined ? 'configuration file' : `environment ${CONFIG_VARIABLE}`;
  const where = flags.config === undefined ? inEnvironment : 'flag --config';
  return problems.attempt(where, 'config', () => readConfigFile(files, workingDirectory, named));
}

/** Applies the given values over the defaults and makes paths absolute. A key that is not set is absent. */
function settle(
  given: Layer,
  workingDirectory: string,
  configFolder: string,
): Omit<Config, 'chains'> {
  const tree: Tree = {};
  for (const [key, setting] of SETTINGS) {
    const bases = { workingDirectory, configFolder, dataDir: String(tree['dataDir']) };
    const folderOfDefault = bases[setting.base ?? 'workingDirectory'];
    const { value, folder } = given.get(key) ?? { value: setting.default, folder: folderOfDefault };
    if (value === undefined) continue;
    setIn(tree, key.split('.'), setting.base === undefined ? value : absolute(value, folder));
  }
  // Each value matches its key's schema, and a key without a value is optional.
  return tree as unknown as Config;
}

type Tree = { [name: string]: unknown };

function setIn(tree: Tree, [step = '', ...steps]: readonly string[], value: unknown): void {
  if (steps.length === 0) tree[step] = value;
  else setIn((tree[step] ??= {}) as Tree, steps, value);
}

/** Makes a path absolute; in a list, URLs stay unchanged. */
function absolute(value: unknown, folder: string): unknown {
  if (!Array.isArray(value)) return path.resolve(folder, String(value));
  return value.map((item) =>
    /^https?:/i.test(String(item)) ? (item as unknown) : absolute(item, folder),
  );
}

/** Lists the API keys for other services and the access tokens of this one. */
function keySecrets({
  access,
  etherscan,
  externalVerifications,
}: Omit<Config, 'chains'>): NamedSecret[] {
  const { etherscan: otherEtherscan, blockscout, routescan } = externalVerifications;
  const keys = {
    'etherscan.apiKey': etherscan.apiKey,
    'externalVerifications.etherscan.apiKey': otherEtherscan.apiKey,
    'externalVerifications.blockscout.apiKey': blockscout.apiKey,
    'externalVerifications.routescan.apiKey': routescan.apiKey,
  };
  return [
    ...Object.entries(keys).flatMap(([name, secret]) => (secret ? [{ name, secret }] : [])),
    ...(access.tokens ?? []).map(({ name, token }) => ({
      name: `access.tokens: ${name}`,
      secret: token,
    })),
  ];
}

const DATABASE_URLS = ['url', 'listenUrl'] as const;

/** Lists the secrets of a database URL, under the name by which the operator set it. */
function databaseUrlSecrets(
  name: (typeof DATABASE_URLS)[number],
  url: Config['database']['url'],
  origin: string,
): NamedSecret[] {
  const variable = /^environment (.*)/.exec(origin)?.[1];
  return url === undefined ? [] : databaseSecrets(variable ?? `database.${name}`, url);
}

/** Checks constraints between keys. */
function checkTogether(
  config: Omit<Config, 'chains'>,
  originOf: (key: SettingKey) => string,
  problems: Problems,
): void {
  const report = (key: SettingKey, message: string) =>
    problems.invalid(originOf(key), message, key);

  const { api, repository, database } = config;
  if (database.listenUrl !== undefined && database.url === undefined) {
    report(
      'database.listenUrl',
      'database.listenUrl is set, and database.url is not, to which it belongs; set both or none',
    );
  }
  const listeners = (['api', 'repository', 'metrics', 'operator'] as const).filter(
    (name) => config[name].enabled,
  );
  for (const [index, name] of listeners.entries()) {
    const { port } = config[name];
    const other = listeners.slice(0, index).find((earlier) => config[earlier].port === port);
    if (other === undefined || port === 0) continue;
    report(
      `${name}.port`,
      `${other}.port (${originOf(`${other}.port`)}) and ${name}.port are both ${port}; give each its own, or 0 for a free one`,
    );
  }
  if (!api.enabled && !repository.enabled) {
    report('api.enabled', 'api.enabled and repository.enabled are both false; enable one of them');
  }
}
