import { printableText } from '../lib/printable-text.ts';
import { type ChainRecord } from './chain-record.ts';
import { CHAIN_RECORD_FIELDS } from './chain-record-fields.ts';
import { mergeEndpoints, type EndpointLayer } from './chain-endpoints.ts';
import { deriveNetwork, unknownChainName } from './derive-network.ts';
import { type Finding } from './finding.ts';
import { type ListRecord } from './list-record.ts';
import { type FieldOrigin, type RegisteredChain } from './registered-chain.ts';
import { type ServiceChain } from './service-chain.ts';

/** What the sources say of one chain. */
export interface ChainSources {
  readonly chainId: number;
  readonly listed?: ListRecord;
  /** The default service configuration's entry. */
  readonly defaults?: ServiceChain;
  /** The operator's entry. */
  readonly configured?: ServiceChain;
}

type RecordField = keyof ChainRecord;

interface Layer {
  readonly origin: FieldOrigin;
  readonly fields: Partial<Record<RecordField, unknown>>;
}

/** Words that a name may carry or not without becoming another chain's. Testnets keep their word: it tells chains apart. */
const GENERIC_WORDS: ReadonlySet<string> = new Set(['mainnet', 'network', 'chain', 'blockchain']);

function coreOfName(name: string): string {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const core = words.filter((word) => !GENERIC_WORDS.has(word));
  return (core.length > 0 ? core : words).join(' ');
}

/**
 * Whether a configured chain and the list's record of its id are two chains: the list says that the id is reused
 * and the names conflict. Case, punctuation and words such as "mainnet" make no conflict.
 */
function isOtherChain(listed: ListRecord, configured: ServiceChain): boolean {
  if (configured.name === undefined || !listed.redFlags?.includes('reusedChainId')) return false;
  const names = [listed.name, listed.title].filter((name) => name !== undefined);
  const core = coreOfName(configured.name);
  return !names.some((name) => coreOfName(name) === core);
}

function findConflict({ chainId, listed, configured }: ChainSources): Finding | undefined {
  if (listed === undefined || configured === undefined) return undefined;
  if (!isOtherChain(listed, configured)) return undefined;
  return {
    level: 'warning',
    code: 'reused_chain_id',
    chainId,
    field: 'name',
    message:
      `Chain ${chainId}: the configuration calls it '${printableText(configured.name ?? '')}', the list ` +
      `'${printableText(listed.name)}', and the list says that the id is reused; no field of the list is merged. ` +
      'Complete the configured chain, or correct its name.',
  };
}

function mergeFields(
  sources: ChainSources,
  layers: readonly Layer[],
): { record: Partial<Record<RecordField, unknown>>; origins: Record<string, FieldOrigin> } {
  const record: Partial<Record<RecordField, unknown>> = {};
  const origins: Record<string, FieldOrigin> = {};
  for (const field of CHAIN_RECORD_FIELDS) {
    const layer = layers.findLast(({ fields }) => fields[field] !== undefined);
    if (layer === undefined) continue;
    record[field] = layer.fields[field];
    origins[field] = layer.origin;
  }
  const { chainId, defaults, configured } = sources;
  record.chainId = chainId;
  origins.chainId = layers[0]?.origin ?? 'service';
  if (record.name === undefined) {
    record.name = unknownChainName(chainId);
    origins.name = 'service';
  }
  if (record.supported === undefined) {
    // A chain that is configured is supported unless its entry says otherwise.
    record.supported = defaults !== undefined || configured !== undefined;
    origins.supported =
      record.supported === true ? (layers.at(-1)?.origin ?? 'service') : 'service';
  }
  if (record.monitored === undefined) {
    record.monitored = false;
    origins.monitored = 'service';
  }
  const network = record.network ?? deriveNetwork(record as unknown as ChainRecord);
  if (record.network === undefined && network !== undefined) {
    record.network = network;
    origins.network = 'derived';
  }
  return { record, origins };
}

function inOrder<T>(fields: Partial<Record<RecordField, T>>): Record<string, T> {
  return Object.fromEntries(
    CHAIN_RECORD_FIELDS.flatMap((field) => {
      const value = fields[field];
      return value === undefined ? [] : [[field, value]];
    }),
  );
}

function isTestnet(record: ChainRecord): boolean {
  if (record.network === 'testnet' || record.network === 'mainnet') {
    return record.network === 'testnet';
  }
  return deriveNetwork(record) === 'testnet';
}

/**
 * One chain of the registry from its sources, field by field: list < default service configuration < operator's
 * configuration (SPEC §1 rule 5).
 */
export function mergeChain(sources: ChainSources): {
  readonly chain: RegisteredChain;
  readonly findings: readonly Finding[];
} {
  const { chainId, configured, defaults } = sources;
  const conflict = findConflict(sources);
  const listed = conflict === undefined ? sources.listed : undefined;
  const serviceLayers = [
    { origin: 'default configuration', fields: defaults },
    { origin: 'configuration', fields: configured },
  ].flatMap(({ origin, fields }) => (fields === undefined ? [] : [{ origin, fields }]));
  const layers: Layer[] = [
    ...(listed === undefined ? [] : [{ origin: 'list', fields: listed }]),
    ...serviceLayers,
  ];
  const local = configured?.local ?? defaults?.local ?? false;
  const endpointLayers: EndpointLayer[] = [
    ...(listed === undefined ? [] : [{ origin: 'list', fromList: true, rpc: listed.rpc }]),
    ...serviceLayers.map(({ origin, fields }) => ({
      ...pickEndpoints(fields),
      origin,
      fromList: false,
    })),
  ];

  const merged = mergeFields(sources, layers);
  const endpoints = mergeEndpoints(chainId, endpointLayers, local);
  const record = inOrder({ ...merged.record, rpc: endpoints.rpc }) as unknown as ChainRecord;
  const origins = inOrder({ ...merged.origins, rpc: endpoints.origin });
  const chain = {
    record,
    origins,
    endpoints: endpoints.endpoints,
    testnet: isTestnet(record),
    local,
  };
  return { chain, findings: [...(conflict ? [conflict] : []), ...endpoints.findings] };
}

function pickEndpoints(
  fields: ServiceChain,
): Pick<EndpointLayer, 'rpc' | 'extraRpc' | 'privateRpc'> {
  const { rpc, extraRpc, privateRpc } = fields;
  return {
    ...(rpc === undefined ? {} : { rpc }),
    ...(extraRpc === undefined ? {} : { extraRpc }),
    ...(privateRpc === undefined ? {} : { privateRpc }),
  };
}
