import path from 'node:path';
import {
  type ServiceChain,
  type ServiceChainInput,
  type ServiceChainProblem,
} from '../chains/service-chain.ts';
import { isMembers } from '../lib/members.ts';
import { Secret, type NamedSecret } from '../lib/secret.ts';
import { showKey } from '../lib/shown-key.ts';
import { showPath, type FileReader } from './file.ts';
import { type Problems } from './problems.ts';
import { PLACEHOLDER, variableSecrets, type SecretReader } from './secrets.ts';
import {
  parseYaml,
  plainValue,
  whereIs,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
} from './yaml-tree.ts';

/**
 * Judges an entry of `chains:`: the chain, or what is wrong with which field. Given as an argument,
 * since what a chain may say is known to the chains alone.
 */
export type ChainValidator = (
  chainId: number,
  raw: unknown,
) => {
  readonly chain?: ServiceChainInput & { readonly chainId: number };
  readonly problems: readonly ServiceChainProblem[];
};

/** Stands in for an endpoint that has its problem already, so that the rest of the entry is judged all the same. */
const UNFILLED = 'https://unfilled.invalid';

/** A map of chains with the file that holds it. */
interface ChainSource {
  readonly file: string;
  readonly node: YamlNode;
}

/** The configured chains, the file of each, and their secrets. */
interface ConfiguredChains {
  readonly chains: ReadonlyMap<number, ServiceChain>;
  readonly files: ReadonlyMap<number, string>;
  readonly secrets: readonly NamedSecret[];
}

/** Validates the chains of all sources; a chain that stands in two places is a fault that names both. */
export function readChains(
  sources: readonly ChainSource[],
  secretReader: SecretReader,
  validateChain: ChainValidator,
  problems: Problems,
): ConfiguredChains {
  const chains = new Map<number, ServiceChain>();
  const files = new Map<number, string>();
  const places = new Map<number, string>();
  const variables = new Map<string, string>();
  const endpoints: NamedSecret[] = [];
  for (const { file, node } of sources) {
    for (const [key, entry] of chainEntries(node, problems)) {
      const chainId = readChainId(key, entry.where, problems);
      if (chainId === undefined) continue;
      const first = places.get(chainId);
      if (first !== undefined) {
        problems.add({
          code: 'invalid_configuration',
          where: entry.where,
          key: `chains.${chainId}`,
          message: `chain ${chainId} is configured twice, first at ${first}; keep one of them`,
        });
        continue;
      }
      places.set(chainId, entry.where);
      const raw = fillEndpoints(chainId, entry, secretReader, variables, problems);
      endpoints.push(...endpointSecrets(chainId, raw));
      const chain = judgeChain(
        chainId,
        entry,
        raw,
        [...variables.values()],
        validateChain,
        problems,
      );
      if (chain === undefined) continue;
      chains.set(chainId, chain);
      files.set(chainId, file);
    }
  }
  return { chains, files, secrets: [...variableSecrets(variables), ...endpoints] };
}

/** The maps of chains in the files of a folder. A folder that must exist and does not is a fault. */
export function readChainsDirectory(
  folder: string,
  options: {
    readonly required: boolean;
    readonly workingDirectory: string;
    readonly where: string;
  },
  files: FileReader,
  problems: Problems,
): ChainSource[] {
  const shown = showPath(folder, options.workingDirectory);
  const names = problems.attempt(options.where, 'chainsDirectory', () => files.list(folder));
  if (names === undefined && options.required) {
    problems.add({
      code: 'configuration_file_unreadable',
      where: options.where,
      key: 'chainsDirectory',
      message: `there is no folder ${shown}; make it or remove the key`,
    });
  }
  const sources: ChainSource[] = [];
  for (const name of names ?? []) {
    if (name.startsWith('.') || !/\.(ya?ml|json)$/.test(name)) continue;
    const file = path.join(shown, name);
    const text = problems.attempt(file, 'chainsDirectory', () =>
      files.read(path.join(folder, name)),
    );
    const node = text === undefined ? undefined : parseYaml({ name: file, text }, problems);
    if (node !== undefined) sources.push({ file, node });
  }
  return sources;
}

function chainEntries(node: YamlNode, problems: Problems): YamlMap['entries'] {
  if (node.kind === 'map') return node.entries;
  if (node.kind === 'list' || node.value !== null) {
    problems.add({
      code: 'invalid_configuration',
      where: node.where,
      key: 'chains',
      message:
        'chains: expected a map from chain id to its fields, such as "1: { supported: true }"',
    });
  }
  return new Map();
}

/** Ids are written one way, so that an id cannot stand twice in two spellings. */
function readChainId(key: string, where: string, problems: Problems): number | undefined {
  const value = Number(key);
  const exact = Number.isSafeInteger(value) && value > 0;
  if (exact && String(value) === key) return value;
  const advice = exact ? `write ${value}` : 'such as 1 or 11155111, up to 2^53-1';
  problems.add({
    code: 'invalid_configuration',
    where,
    key: 'chains',
    message: `${showKey(key)} is no chain id: expected a decimal number, ${advice}`,
  });
  return undefined;
}

/** The entry as plain values, with every `${NAME}` of `privateRpc` filled from the environment. */
function fillEndpoints(
  chainId: number,
  entry: YamlEntry,
  secretReader: SecretReader,
  variables: Map<string, string>,
  problems: Problems,
): unknown {
  const raw = plainValue(entry.value);
  if (!isMembers(raw) || !Array.isArray(raw['privateRpc'])) return raw;
  const filled = raw['privateRpc'].map((endpoint: unknown, index) => {
    if (typeof endpoint !== 'string') return endpoint;
    const field = `privateRpc[${index}]`;
    const where = whereIs(entry.value, field);
    let complete = true;
    const url = endpoint.replaceAll(PLACEHOLDER, (placeholder, name: string) => {
      const value = fillVariable(name, { chainId, field, where }, secretReader, problems);
      if (value === undefined) {
        complete = false;
        return placeholder;
      }
      variables.set(name, value);
      return value;
    });
    if (!complete) return UNFILLED;
    if (!isEndpoint(url)) {
      problems.add({
        code: 'invalid_configuration',
        where,
        key: `chains.${chainId}.${field}`,
        message: `chain ${chainId}, ${field}: expected an http, https, ws or wss URL, such as https://rpc.example.org/\${API_KEY}`,
      });
    }
    return url;
  });
  return { ...raw, privateRpc: filled };
}

function fillVariable(
  name: string,
  at: { readonly chainId: number; readonly field: string; readonly where: string },
  secretReader: SecretReader,
  problems: Problems,
): string | undefined {
  const key = `chains.${at.chainId}.${at.field}`;
  let failed = true;
  const found = problems.attempt(at.where, key, () => {
    const variable = secretReader.read(name);
    failed = false;
    return variable;
  });
  if (found === undefined && !failed) {
    problems.add({
      code: 'environment_variable_missing',
      where: at.where,
      key,
      message: `chain ${at.chainId}, ${at.field}: the environment variable ${name} is not set; set ${name} or ${name}_FILE`,
    });
  }
  return found?.value;
}

function endpointSecrets(chainId: number, raw: unknown): NamedSecret[] {
  if (!isMembers(raw) || !Array.isArray(raw['privateRpc'])) return [];
  return raw['privateRpc'].flatMap((endpoint: unknown, index) =>
    typeof endpoint === 'string' && endpoint !== ''
      ? [{ name: `chains.${chainId}.privateRpc[${index}]`, secret: new Secret(endpoint) }]
      : [],
  );
}

function judgeChain(
  chainId: number,
  entry: YamlEntry,
  raw: unknown,
  secretTexts: readonly string[],
  validateChain: ChainValidator,
  problems: Problems,
): ServiceChain | undefined {
  const judged = validateChain(chainId, raw);
  for (const { code, field, message, hiddenKey } of judged.problems) {
    problems.add({
      code,
      where:
        field === '' && hiddenKey === undefined
          ? entry.where
          : whereIs(entry.value, field, hiddenKey?.reveal()),
      key: field === '' ? `chains.${chainId}` : `chains.${chainId}.${field}`,
      message: mask(message, secretTexts),
    });
  }
  if (judged.chain === undefined) return undefined;
  const { privateRpc, ...chain } = judged.chain;
  if (privateRpc === undefined) return chain;
  return { ...chain, privateRpc: privateRpc.map((endpoint) => new Secret(endpoint)) };
}

function isEndpoint(url: string): boolean {
  return (
    !url.includes('${') &&
    URL.canParse(url) &&
    ['http:', 'https:', 'ws:', 'wss:'].includes(new URL(url).protocol)
  );
}

/** A validator has no reason to quote a secret; should it do so, it is not passed on. */
function mask(message: string, secretTexts: readonly string[]): string {
  return secretTexts.reduce((text, secret) => text.replaceAll(secret, '***'), message);
}
