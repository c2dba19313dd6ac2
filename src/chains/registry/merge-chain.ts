import { printableText } from '../../lib/printable-text.ts';
import { type ChainRecord } from './chain-record.ts';
import { CHAIN_RECORD_FIELDS } from './chain-record-schema.ts';
import { mergeEndpoints, type ChainEndpoints, type EndpointLayer } from './chain-endpoints.ts';
import { deriveNetwork, unknownChainName, type ChainNames } from './derive-network.ts';
import { type Finding } from './finding.ts';
import { type ListRecord } from './list-record.ts';
import { type FieldOrigin, type RegisteredChain } from './registered-chain.ts';
import { type ServiceChain } from './service-chain.ts';

/** The entries for one chain, one from each layer. */
export interface ChainEntries {
  readonly chainId: number;
  readonly listed?: ListRecord;
  /** The default service configuration's entry. */
  readonly defaults?: ServiceChain;
  /** The operator's entry. */
  readonly configured?: ServiceChain;
  /** Whether a monitor currently keeps up with the chain. */
  readonly isWatched?: boolean;
}

type RecordField = keyof ChainRecord;

interface Layer extends EndpointLayer {
  readonly fields: Partial<ServiceChain>;
}

/** Generic words that do not distinguish chains. Testnet words do, so they are not included. */
const GENERIC_WORDS: ReadonlySet<string> = new Set(['mainnet', 'network', 'chain', 'blockchain']);

/** Distinguishing part of a name: its lower-case words without generic ones, unless none is left. */
export function distinctiveName(name: string): string {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const core = words.filter((word) => !GENERIC_WORDS.has(word));
  return (core.length > 0 ? core : words).join(' ');
}

/**
 * Whether a configured chain and the list's record of its id are different chains: the list marks the id as
 * reused and the names conflict.
 */
function isOtherChain(listed: ListRecord, configured: ServiceChain): boolean {
  return listed.redFlags?.includes('reusedChainId') === true && namesConflict(listed, configured);
}

/**
 * Whether configuration and list name a chain differently. Case, punctuation and words such as "mainnet" are
 * no conflict.
 */
function namesConflict(listed: ListRecord, configured: ServiceChain): boolean {
  if (configured.name === undefined) return false;
  const names = [listed.name, listed.title].filter((name) => name !== undefined);
  const core = distinctiveName(configured.name);
  return !names.some((name) => distinctiveName(name) === core);
}

/** Finding for a chain that configuration and list name differently. */
function findOtherName({ chainId, listed, configured }: ChainEntries): Finding | undefined {
  if (listed === undefined || configured === undefined) return undefined;
  if (!namesConflict(listed, configured)) return undefined;
  const names =
    `Chain ${chainId}: the configuration calls it '${printableText(configured.name ?? '')}', the list ` +
    `'${printableText(listed.name)}'`;
  const finding = { level: 'warning', chainId, field: 'name' } as const;
  return isOtherChain(listed, configured)
    ? {
        ...finding,
        code: 'reused_chain_id',
        message: `${names}, and the list marks the id as reused; no field of the list is merged. Complete the configured chain, or correct its name.`,
      }
    : {
        ...finding,
        code: 'listed_under_another_name',
        message: `${names}. If yours is another chain, use an id that no chain has: wallets and tools will mistake it for the listed one, whose other fields are merged.`,
      };
}

/**
 * The layers of a chain, lowest first. The lowest holds the service's defaults; a configured chain is
 * supported unless its entry says otherwise.
 */
function stackLayers(
  chainId: number,
  listed: ListRecord | undefined,
  defaults: ServiceChain | undefined,
  configured: ServiceChain | undefined,
): readonly Layer[] {
  const bottom = { name: unknownChainName(chainId), rpc: [], supported: false };
  const layers: Layer[] = [{ origin: 'service', fromList: false, fields: bottom }];
  const configuredIn = configured === undefined ? 'default configuration' : 'configuration';
  if (configured !== undefined || defaults !== undefined) {
    layers.push({ origin: configuredIn, fromList: false, fields: { supported: true } });
  }
  if (listed !== undefined) layers.push({ origin: 'list', fromList: true, fields: listed });
  if (defaults !== undefined) {
    layers.push({ origin: 'default configuration', fromList: false, fields: defaults });
  }
  if (configured !== undefined) {
    layers.push({ origin: 'configuration', fromList: false, fields: configured });
  }
  return layers;
}

/** The highest layer that sets a field. */
function findLayer(layers: readonly Layer[], field: RecordField): Layer | undefined {
  for (let index = layers.length - 1; index >= 0; index -= 1) {
    if (layers[index]?.fields[field] !== undefined) return layers[index];
  }
  return undefined;
}

/** The record and the origin of each of its fields, keys in table order. */
function mergeFields(
  chainId: number,
  layers: readonly Layer[],
  endpoints: ChainEndpoints,
  monitored: { readonly value: boolean; readonly origin: FieldOrigin },
): { readonly record: ChainRecord; readonly origins: Readonly<Record<string, FieldOrigin>> } {
  const record: Record<string, unknown> = {};
  const origins: Record<string, FieldOrigin> = {};
  const set = (field: RecordField, value: unknown, origin: FieldOrigin): void => {
    if (value === undefined) return;
    record[field] = value;
    origins[field] = origin;
  };
  const valueOf = (field: RecordField): unknown => findLayer(layers, field)?.fields[field];
  for (const field of CHAIN_RECORD_FIELDS) {
    const layer = findLayer(layers, field);
    if (field === 'rpc') set(field, endpoints.rpc, endpoints.origin);
    else if (field === 'monitored') set(field, monitored.value, monitored.origin);
    else if (field === 'chainId') {
      const lowest = layers.find(({ fields }) => fields.chainId !== undefined);
      set(field, chainId, lowest?.origin ?? 'service');
    } else if (layer !== undefined) set(field, layer.fields[field], layer.origin);
    else if (field === 'network') {
      const names = {
        chainId,
        name: valueOf('name'),
        title: valueOf('title'),
        shortName: valueOf('shortName'),
        slip44: valueOf('slip44'),
      };
      set(field, deriveNetwork(names as ChainNames), 'derived');
    }
  }
  return { record: record as unknown as ChainRecord, origins };
}

/** True for a chain that is configured to be watched and actually is. */
function findMonitored({ configured, isWatched = false }: ChainEntries) {
  const isWanted = configured?.monitor !== undefined;
  return { value: isWanted && isWatched, origin: isWanted ? 'configuration' : 'service' };
}

function isTestnet(record: ChainRecord): boolean {
  if (record.network === 'testnet' || record.network === 'mainnet') {
    return record.network === 'testnet';
  }
  return deriveNetwork(record) === 'testnet';
}

/**
 * Merges one chain of the registry from its sources, field by field: list < default service configuration <
 * operator's configuration (SPEC §1 rule 5).
 */
export function mergeChain(entries: ChainEntries): {
  readonly chain: RegisteredChain;
  readonly findings: readonly Finding[];
} {
  const { chainId, configured, defaults } = entries;
  const otherName = findOtherName(entries);
  const listed = otherName?.code === 'reused_chain_id' ? undefined : entries.listed;
  const layers = stackLayers(chainId, listed, defaults, configured);
  const local = configured?.local ?? defaults?.local ?? false;
  const endpoints = mergeEndpoints(chainId, layers, local);
  const { record, origins } = mergeFields(chainId, layers, endpoints, findMonitored(entries));
  const chain = {
    record,
    origins,
    endpoints: endpoints.endpoints,
    testnet: isTestnet(record),
    local,
  };
  return { chain, findings: [...(otherName ? [otherName] : []), ...endpoints.findings] };
}
