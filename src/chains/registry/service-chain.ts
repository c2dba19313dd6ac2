import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { type ErrorCode } from '../../errors.ts';
import { looksLikeName, NOT_A_NAME } from '../../lib/format-key.ts';
import { Secret } from '../../lib/secret.ts';
import { findFetchAddressFault, findTxRegexFault } from './explorer-page.ts';
import { isChainId, type ListRecord, isScriptUrl } from './list-record.ts';
import { MONITOR_KEYS, type MonitoredChain, monitoredChainSchema } from './monitored-chain.ts';

type ListFields = Omit<ListRecord, 'chainId' | 'name' | 'rpc'>;

/** Service configuration of a chain. Each field overrides the public list's; absent fields stay as in the list. */
export interface ServiceChain extends ListFields {
  readonly chainId: number;
  readonly name?: string;
  /** Whether contracts can be verified on this chain; true by default for a configured chain. */
  readonly supported?: boolean;
  /** Obsolete key of earlier versions: whether the chain is watched is determined by its monitor. */
  readonly monitored?: boolean;
  /** How the chain is monitored for new contracts; absent if it is not. */
  readonly monitor?: MonitoredChain;
  /** Whether the chain is on the operator's machine or private network: private hosts may then be published in rpc. */
  readonly local?: boolean;
  /**
   * How many independent endpoints must agree on the code on chain; by default 1 for the operator's own node,
   * else 2.
   */
  readonly quorum?: 1 | 2;
  /** Replaces the list's endpoints. */
  readonly rpc?: readonly string[];
  /** Appended to the list's endpoints, or to `rpc`. */
  readonly extraRpc?: readonly string[];
  /** Endpoints with keys: used by the service, never published. */
  readonly privateRpc?: readonly Secret[];
  /** URL of an explorer's page of a contract, with the literal `${ADDRESS}`. */
  readonly contractFetchAddress?: string;
  /** RE2 pattern with one capture group: the creation transaction's hash on that page. */
  readonly txRegex?: string;
}

/** A service chain as written in a configuration file: private endpoints are still text. */
export type ServiceChainInput = Omit<ServiceChain, 'chainId' | 'privateRpc'> & {
  readonly privateRpc?: readonly string[];
};

const text = z.string().min(1);
const texts = z.array(text, { error: 'expected a list' });
/** Endpoints; a single string instead of a list is a common mistake. */
const endpoints = z.array(text, {
  error: "expected a list of URLs, such as ['https://node.example.org']",
});
const count = z.int().min(0);
const link = text.refine((value) => !isScriptUrl(value), { error: 'is a link that runs code' });

/** Strict schema of one entry of `chains:`. Unknown keys are errors. */
const serviceChainSchema = z.strictObject({
  supported: z.boolean().optional(),
  monitored: z.boolean().optional(),
  monitor: monitoredChainSchema,
  local: z.boolean().optional(),
  quorum: z.union([z.literal(1), z.literal(2)]).optional(),
  rpc: endpoints.optional(),
  extraRpc: endpoints.optional(),
  privateRpc: endpoints.optional(),
  contractFetchAddress: text.optional(),
  txRegex: text.optional(),
  name: text.optional(),
  chain: text.optional(),
  network: text.optional(),
  icon: text.optional(),
  faucets: z.array(link).optional(),
  nativeCurrency: z.strictObject({ name: text, symbol: text, decimals: count }).optional(),
  infoURL: link.optional(),
  shortName: text.optional(),
  networkId: count.optional(),
  slip44: count.optional(),
  ens: z.strictObject({ registry: z.string().regex(/^0x[0-9a-fA-F]{40}$/) }).optional(),
  explorers: z
    .array(
      z.strictObject({
        name: text,
        url: link,
        standard: text.default('none'),
        icon: text.optional(),
      }),
    )
    .optional(),
  title: text.optional(),
  status: text.optional(),
  features: z.array(z.strictObject({ name: text })).optional(),
  parent: z
    .strictObject({
      type: text,
      chain: text,
      bridges: z.array(z.strictObject({ url: z.string() })).optional(),
    })
    .optional(),
  redFlags: texts.optional(),
});

/** Keys of an entry, or below one of them: suggestions are limited to these. */
const KNOWN_KEYS: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(serviceChainSchema.shape),
  monitor: MONITOR_KEYS,
};
const SUGGESTION_MAX_DISTANCE = 3;

/** A fault of one entry of the service configuration: where, what, and the fix. */
export interface ServiceChainProblem {
  readonly code: Extract<ErrorCode, 'invalid_configuration' | 'unknown_configuration_key'>;
  /** Path below the entry: `txRegex`, `rpc[0]`, `explorers[1].url`; empty for the entry itself. */
  readonly field: string;
  /** A complete sentence that names the chain and the field, without any value of the entry. */
  readonly message: string;
  /** A key below the field that is not displayed, used to locate it. */
  readonly hiddenKey?: Secret;
}

function joinPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((joined, part) => {
    if (typeof part === 'number') return `${joined}[${part}]`;
    return joined === '' ? String(part) : `${joined}.${String(part)}`;
  }, '');
}

function problem(
  chainId: number,
  field: string,
  fault: string,
  code: ServiceChainProblem['code'] = 'invalid_configuration',
): ServiceChainProblem {
  const where = field === '' ? `chains.${chainId}` : `chains.${chainId}.${field}`;
  const end = fault.endsWith('?') ? '' : '.';
  return { code, field, message: `Chain ${chainId}: ${where} ${fault}${end}` };
}

function describeUnknownKey(key: string, below: string): string {
  const known = KNOWN_KEYS[below];
  if (known !== undefined) {
    const candidate = closest(key, known);
    if (below === '' && key === 'chainId') {
      return 'must not be set here; the key of the entry is the chain id';
    }
    if (distance(key.toLowerCase(), candidate.toLowerCase()) <= SUGGESTION_MAX_DISTANCE) {
      return `is not a known key; did you mean '${candidate}'?`;
    }
  }
  return 'is not a known key; remove it';
}

function problemsOf(chainId: number, issue: z.core.$ZodIssue): readonly ServiceChainProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const code = 'unknown_configuration_key';
      if (!looksLikeName(key)) {
        const fault = `has ${NOT_A_NAME}, perhaps a value in the wrong place; remove it`;
        const hiddenKey = new Secret(key);
        return { ...problem(chainId, joinPath(issue.path), fault, code), hiddenKey };
      }
      const fault = describeUnknownKey(key, joinPath(issue.path));
      return problem(chainId, joinPath([...issue.path, key]), fault, code);
    });
  }
  const said = issue.message.replace(/^Invalid input: /, '');
  const reason = said.charAt(0).toLowerCase() + said.slice(1);
  return [problem(chainId, joinPath(issue.path), `is not valid: ${reason}`)];
}

/** Removes keys with value undefined, which exactOptionalPropertyTypes distinguishes from absent ones. */
function withoutUndefined(parsed: z.output<typeof serviceChainSchema>): ServiceChainInput {
  const known = Object.entries(parsed).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known);
}

/**
 * Validates one entry of the service configuration (SPEC §1 rules 5 and 6). Any problem refuses the entry: an
 * invalid configuration is rejected. Messages contain no values, which may be credentials.
 */
export function validateServiceChain(
  chainId: number,
  raw: unknown,
): {
  readonly chain?: ServiceChainInput & { readonly chainId: number };
  readonly problems: readonly ServiceChainProblem[];
} {
  if (!isChainId(chainId)) {
    return {
      problems: [problem(chainId, '', 'is not a chain id; ids are integers from 1 to 2^53-1')],
    };
  }
  // `1: {}` may be written as `1:` in YAML, which is read as null.
  const parsed = serviceChainSchema.safeParse(raw ?? {});
  if (!parsed.success) {
    return { problems: parsed.error.issues.flatMap((issue) => problemsOf(chainId, issue)) };
  }
  const chain = withoutUndefined(parsed.data);
  const problems: ServiceChainProblem[] = [];
  if (chain.txRegex !== undefined) {
    const fault = findTxRegexFault(chain.txRegex);
    if (fault !== undefined) problems.push(problem(chainId, 'txRegex', fault));
  }
  if (chain.contractFetchAddress !== undefined) {
    const fault = findFetchAddressFault(chain.contractFetchAddress);
    if (fault !== undefined) problems.push(problem(chainId, 'contractFetchAddress', fault));
  }
  return problems.length > 0 ? { problems } : { chain: { chainId, ...chain }, problems };
}
