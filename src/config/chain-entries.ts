import path from 'node:path';
import { type ServiceChain, type validateServiceChain } from '../chains/registry/service-chain.ts';
import { FullmatchError } from '../errors.ts';
import { isMembers } from '../lib/members.ts';
import { Secret, type NamedSecret } from '../lib/secret.ts';
import { showPath, type FileReader } from './file.ts';
import { type Problems } from './problems.ts';
import { PLACEHOLDER, variableSecrets, type SecretReader } from './secrets.ts';
import { parseYaml, locate, type Place, type YamlFile } from './yaml-file.ts';

/**
 * Validates an entry of `chains:` and returns the chain, or the faults of its fields. Passed as an argument,
 * since only the chains module knows the valid fields.
 */
export type ChainValidator = typeof validateServiceChain;

/** Placeholder for an endpoint whose fault is already reported, so that the rest of the entry is still validated. */
const UNFILLED = 'https://unfilled.invalid';

/**
 * Reads chains from files, or from the `chains` part of a file. A chain configured in two places is a fault
 * that names both.
 */
export class ChainReader {
  readonly chains = new Map<number, ServiceChain>();
  /** File that configures each chain. */
  readonly files = new Map<number, string>();
  readonly #places = new Map<number, string>();
  readonly #variables = new Map<string, string>();
  readonly #endpoints: NamedSecret[] = [];
  readonly #secretReader: SecretReader;
  readonly #validateChain: ChainValidator;
  readonly #problems: Problems;

  constructor(secretReader: SecretReader, validateChain: ChainValidator, problems: Problems) {
    this.#secretReader = secretReader;
    this.#validateChain = validateChain;
    this.#problems = problems;
  }

  /** Values of variables that the chains use, and URLs of private endpoints. */
  get secrets(): readonly NamedSecret[] {
    return [...variableSecrets(this.#variables), ...this.#endpoints];
  }

  /** Reads a map of chains; an empty value adds none. */
  read({ name, value, place }: YamlFile): void {
    if (value === null) return;
    if (!isMembers(value)) {
      const form = 'a map from chain id to its fields, such as "1: { supported: true }"';
      this.#problems.invalid(place.where, `chains: expected ${form}`, 'chains');
      return;
    }
    for (const [key, at] of place.below) {
      const chainId = this.#readChainId(key, at.where);
      const chain = chainId === undefined ? undefined : this.#readChain(chainId, value[key], at);
      if (chain === undefined) continue;
      this.chains.set(chain.chainId, chain);
      this.files.set(chain.chainId, name);
    }
  }

  /** Requires the canonical form, so that an id cannot appear twice in different spellings. */
  #readChainId(key: string, where: string): number | undefined {
    const chainId = Number(key);
    const exact = Number.isSafeInteger(chainId) && chainId > 0;
    if (!exact || String(chainId) !== key) {
      const advice = exact ? `write ${chainId}` : 'such as 1 or 11155111, up to 2^53-1';
      // Anything else may be a misplaced secret.
      const shown = /^[\d.,_+-]{1,16}$/.test(key) ? `'${key}'` : 'this key';
      const fault = `${shown} is not a chain id: expected a decimal number, ${advice}`;
      this.#problems.invalid(where, fault, 'chains');
      return undefined;
    }
    const first = this.#places.get(chainId);
    if (first !== undefined) {
      const fault = `chain ${chainId} is configured twice, first at ${first}; keep one of them`;
      this.#problems.invalid(where, fault, `chains.${chainId}`);
      return undefined;
    }
    this.#places.set(chainId, where);
    return chainId;
  }

  #readChain(chainId: number, raw: unknown, place: Place): ServiceChain | undefined {
    const judged = this.#validateChain(chainId, this.#fillEndpoints(chainId, raw, place));
    for (const { code, field, message, hiddenKey } of judged.problems) {
      const steps = field.split(/[.[\]]+/).filter((step) => step !== '');
      this.#problems.add({
        code,
        where: locate(place, hiddenKey === undefined ? steps : [...steps, hiddenKey.reveal()]),
        key: field === '' ? `chains.${chainId}` : `chains.${chainId}.${field}`,
        // A validator should not quote a secret; if it does, the secret is redacted.
        message: [...this.#variables.values()].reduce(
          (text, secret) => text.replaceAll(secret, '***'),
          message,
        ),
      });
    }
    if (judged.chain === undefined) return undefined;
    const { privateRpc, ...chain } = judged.chain;
    if (privateRpc === undefined) return chain;
    return { ...chain, privateRpc: privateRpc.map((endpoint) => new Secret(endpoint)) };
  }

  /** Fills every `${NAME}` in the entry's `privateRpc` from the environment. */
  #fillEndpoints(chainId: number, raw: unknown, place: Place): unknown {
    if (!isMembers(raw) || !Array.isArray(raw['privateRpc'])) return raw;
    const privateRpc = raw['privateRpc'].map((endpoint: unknown, index) =>
      typeof endpoint === 'string' ? this.#fillEndpoint(chainId, endpoint, index, place) : endpoint,
    );
    return { ...raw, privateRpc };
  }

  #fillEndpoint(chainId: number, endpoint: string, index: number, place: Place): string {
    const field = `privateRpc[${index}]`;
    const key = `chains.${chainId}.${field}`;
    const where = locate(place, ['privateRpc', String(index)]);
    let complete = true;
    const url = endpoint.replaceAll(PLACEHOLDER, (_placeholder, name: string) => {
      const value = this.#problems.attempt(where, key, () => {
        const found = this.#secretReader.read(name);
        if (found !== undefined) return found.value;
        const fault = `the environment variable ${name} is not set; set ${name} or ${name}_FILE`;
        const message = `chain ${chainId}, ${field}: ${fault}`;
        throw new FullmatchError('environment_variable_missing', message);
      });
      if (value === undefined) complete = false;
      else this.#variables.set(name, value);
      return value ?? '';
    });
    if (!complete) return UNFILLED;
    if (url !== '') this.#endpoints.push({ name: key, secret: new Secret(url) });
    if (!isEndpoint(url)) {
      const form = 'an http, https, ws or wss URL, such as https://rpc.example.org/${API_KEY}';
      this.#problems.invalid(where, `chain ${chainId}, ${field}: expected ${form}`, key);
    }
    return url;
  }
}

/** Reads the chain maps in the files of a folder. A missing folder is a fault if it is required. */
export function readChainsDirectory(
  folder: { readonly path: string; readonly where: string; readonly required: boolean },
  { files, workingDirectory }: { readonly files: FileReader; readonly workingDirectory: string },
  problems: Problems,
): YamlFile[] {
  const key = 'chainsDirectory';
  const shown = showPath(folder.path, workingDirectory);
  const names = problems.attempt(folder.where, key, () => {
    const found = files.list(folder.path);
    if (found !== undefined || !folder.required) return found ?? [];
    const message = `there is no folder ${shown}; create it or remove the key`;
    throw new FullmatchError('configuration_file_unreadable', message);
  });
  const chosen = names?.filter((each) => /^[^.].*\.(ya?ml|json)$/s.test(each)) ?? [];
  return chosen.flatMap((each) => {
    const name = path.join(shown, each);
    const text = problems.attempt(name, key, () => files.read(path.join(folder.path, each)));
    return (text === undefined ? undefined : parseYaml({ name, text }, problems)) ?? [];
  });
}

function isEndpoint(url: string): boolean {
  return (
    !url.includes('${') &&
    URL.canParse(url) &&
    ['http:', 'https:', 'ws:', 'wss:'].includes(new URL(url).protocol)
  );
}
