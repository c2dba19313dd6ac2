import { displaySource } from '../list/source-name.ts';
import { printableText } from '../../lib/printable-text.ts';
import { type ChainList } from '../list/chain-list.ts';
import { type Finding } from './finding.ts';
import { type ListRecord } from './list-record.ts';
import { type RegisteredChain } from './registered-chain.ts';
import { type ServiceChain } from './service-chain.ts';

/** Inputs of the registry: a review compares the finished chains with them. */
interface ReviewInput {
  readonly list: ChainList;
  readonly defaults: ReadonlyMap<number, ServiceChain>;
  readonly configured: ReadonlyMap<number, ServiceChain>;
  readonly contractChainIds: readonly number[];
}

function reviewSupport({ record, endpoints }: RegisteredChain): readonly Finding[] {
  const { chainId } = record;
  const findings: Finding[] = [];
  if (record.supported && endpoints.length === 0) {
    findings.push({
      level: 'warning',
      code: 'supported_chain_without_endpoint',
      chainId,
      field: 'rpc',
      message: `Chain ${chainId} is supported but has no endpoint; set rpc or privateRpc.`,
    });
  }
  if (record.supported && record.status === 'deprecated') {
    findings.push({
      level: 'warning',
      code: 'deprecated_chain_supported',
      chainId,
      field: 'status',
      message: `Chain ${chainId} is supported, but the list calls it deprecated; set supported: false when it has ended.`,
    });
  }
  if (record.txRegex !== undefined && record.contractFetchAddress === undefined) {
    findings.push({
      level: 'warning',
      code: 'tx_regex_without_page',
      chainId,
      field: 'txRegex',
      message: `Chain ${chainId} has a txRegex but no page to search; set contractFetchAddress or leave out txRegex.`,
    });
  }
  return findings;
}

function reviewMonitor(
  { record: { chainId, supported } }: RegisteredChain,
  { configured }: ReviewInput,
): readonly Finding[] {
  const { monitor, monitored } = configured.get(chainId) ?? {};
  if (monitor !== undefined && !supported) {
    const message = `Chain ${chainId} has a monitor but is not supported, so found contracts cannot be verified; set supported: true or monitor: false.`;
    return [
      { level: 'warning', code: 'monitored_chain_unsupported', chainId, field: 'monitor', message },
    ];
  }
  if (monitor === undefined && monitored === true) {
    const message = `Chain ${chainId} has monitored: true but no monitor, so /chains shows monitored: false; set monitor: true instead of monitored.`;
    return [
      { level: 'warning', code: 'monitored_without_monitor', chainId, field: 'monitored', message },
    ];
  }
  return [];
}

/** Chains are also found by short name, in upper or lower case, so two chains must not share one. */
function reviewShortNames(chains: readonly RegisteredChain[]): readonly Finding[] {
  const firsts = new Map<string, number>();
  return chains.flatMap(({ record: { chainId, shortName } }): readonly Finding[] => {
    if (shortName === undefined) return [];
    const key = shortName.toLowerCase();
    const first = firsts.get(key);
    if (first === undefined) {
      firsts.set(key, chainId);
      return [];
    }
    const message = `Chain ${chainId} has the short name '${printableText(shortName)}' of chain ${first}; look them up by id.`;
    return [
      { level: 'warning', code: 'duplicate_short_name', chainId, field: 'shortName', message },
    ];
  });
}

function reviewNames(
  { record, origins }: RegisteredChain,
  { configured }: ReviewInput,
): readonly Finding[] {
  const { chainId } = record;
  if (origins.name !== 'service') return [];
  if (configured.has(chainId)) {
    const message = `Chain ${chainId} is configured without a name and is in no list; set name.`;
    return [{ level: 'warning', code: 'chain_name_unknown', chainId, field: 'name', message }];
  }
  const message = `Chain ${chainId} has contracts but is neither listed nor configured; it stays in the registry, not supported.`;
  return [{ level: 'warning', code: 'contract_chain_unknown', chainId, message }];
}

function reviewSources(
  input: ReviewInput,
  listed: ReadonlyMap<number, ListRecord>,
): readonly Finding[] {
  const { list, defaults, configured } = input;
  const missing = [...defaults.keys()].filter(
    (chainId) => !listed.has(chainId) && !configured.has(chainId),
  );
  const findings = missing.map((chainId): Finding => ({
    level: 'info',
    code: 'default_chain_not_listed',
    chainId,
    message: `Chain ${chainId} of the default service configuration is not in the list ${displaySource(list.source)}; it is skipped.`,
  }));
  if (list.ignoredFields !== undefined) {
    findings.push({
      level: 'info',
      code: 'list_field_ignored',
      message: `The list ${displaySource(list.source)} has fields that are not part of a chain record, ignored: ${list.ignoredFields.slice(0, 10).join(', ')}.`,
    });
  }
  return findings;
}

/**
 * Findings about the finished chains: each chain by itself, chains against each other, and sources without
 * effect. `listed` contains the list's records that were merged.
 */
export function reviewRegistry(
  chains: readonly RegisteredChain[],
  input: ReviewInput,
  listed: ReadonlyMap<number, ListRecord>,
): readonly Finding[] {
  return [
    ...chains.flatMap(reviewSupport),
    ...chains.flatMap((chain) => reviewMonitor(chain, input)),
    ...chains.flatMap((chain) => reviewNames(chain, input)),
    ...reviewShortNames(chains),
    ...reviewSources(input, listed),
  ];
}
