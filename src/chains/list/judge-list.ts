import { printableText } from '../../lib/printable-text.ts';
import { type ChainList } from './chain-list.ts';
import { type ListDifference } from './compare-lists.ts';

/** What a newer list must preserve. */
export interface ListRequirements {
  /** Chains that ever stored a contract. */
  readonly contractChainIds: ReadonlySet<number>;
  /** Chains in the service configuration, including the default one. */
  readonly configuredChainIds: ReadonlySet<number>;
  /** Percentage of known chains that may be missing. */
  readonly maxShrinkPercent: number;
  /** Number of chains in the lists of the last 30 days, oldest first. */
  readonly recentSizes: readonly number[];
}

/** Reason for rejecting a newer list. */
export interface Refusal {
  readonly code: 'shrinks' | 'drops_contracts' | 'drops_configured' | 'changes_identity';
  readonly chainIds: readonly number[];
  /** A complete sentence. */
  readonly message: string;
}

const SHOWN_CHAINS = 5;

/**
 * Returns the reasons against replacing the current list with a newer one (SPEC §1 rule 7); empty if it may be
 * replaced.
 *
 * - A chain with contracts, or a configured one, must not vanish: its record would lose name and endpoints. An
 *   invalid record counts as missing.
 * - The id of a chain with contracts must not become another chain's: the contracts were verified on the former.
 * - A small share of the other known chains may vanish, since chains end; but in total no more of the largest
 *   recent list, over however many steps.
 */
export function judgeList(
  before: Pick<ChainList, 'records'>,
  difference: ListDifference,
  requirements: ListRequirements,
): readonly Refusal[] {
  const dropped = difference.removed.map(({ chainId }) => chainId);
  const withContracts = dropped.filter((chainId) => requirements.contractChainIds.has(chainId));
  const configured = dropped.filter(
    (chainId) =>
      requirements.configuredChainIds.has(chainId) && !requirements.contractChainIds.has(chainId),
  );
  const changed = difference.identityChanged.filter(({ chainId }) =>
    requirements.contractChainIds.has(chainId),
  );
  const refusals: Refusal[] = [];
  const size = before.records.length - dropped.length + difference.added.length;
  const largest = measureOf(requirements.recentSizes, requirements.maxShrinkPercent);
  if (isTooMany(dropped.length, before.records.length, requirements.maxShrinkPercent)) {
    const percent = ((dropped.length * 100) / before.records.length).toFixed(1);
    const message = `It lacks ${dropped.length} of ${before.records.length} known chains (${percent} %; the limit is ${requirements.maxShrinkPercent} %)`;
    refusals.push({ code: 'shrinks', chainIds: dropped, message });
  } else if (isTooMany(largest - size, largest, requirements.maxShrinkPercent)) {
    const message = `It has ${size} chains, where a list of the last 30 days had ${largest} (at most ${requirements.maxShrinkPercent} %)`;
    refusals.push({ code: 'shrinks', chainIds: dropped, message });
  }
  if (withContracts.length > 0) {
    const message = `It drops chains that have contracts: ${showIds(withContracts)}`;
    refusals.push({ code: 'drops_contracts', chainIds: withContracts, message });
  }
  if (configured.length > 0) {
    const message = `It drops chains that are configured: ${showIds(configured)}`;
    refusals.push({ code: 'drops_configured', chainIds: configured, message });
  }
  if (changed.length > 0) {
    const shown = changed
      .slice(0, SHOWN_CHAINS)
      .map(
        ({ chainId, before: old, after }) =>
          `${chainId} from '${printableText(old.name, 60)}' to '${printableText(after.name, 60)}'`,
      );
    const message = `It assigns ids of chains with contracts to other chains: ${shown.join(', ')}${moreThan(changed.length)}`;
    const chainIds = changed.map(({ chainId }) => chainId);
    refusals.push({ code: 'changes_identity', chainIds, message });
  }
  return refusals;
}

function isTooMany(missing: number, known: number, maxShrinkPercent: number): boolean {
  return missing * 100 > known * maxShrinkPercent;
}

/**
 * The largest of the recent lists. If one shrank by more than is allowed, the operator accepted it: it
 * becomes the new reference.
 */
function measureOf(recentSizes: readonly number[], maxShrinkPercent: number): number {
  return recentSizes.reduce(
    (largest, size) =>
      isTooMany(largest - size, largest, maxShrinkPercent) ? size : Math.max(largest, size),
    0,
  );
}

function showIds(chainIds: readonly number[]): string {
  return chainIds.slice(0, SHOWN_CHAINS).join(', ') + moreThan(chainIds.length);
}

function moreThan(count: number): string {
  return count > SHOWN_CHAINS ? ` and ${count - SHOWN_CHAINS} more` : '';
}
