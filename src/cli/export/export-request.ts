import { findChain } from '../../chains/registry/chain-reference.ts';
import { type Core } from '../../core/open-core.ts';
import { sequenceEvents } from '../../repository/repository.ts';
import { type TreeLayout } from '../../exporter/export-tree.ts';
import { type Queryable } from '../../store/database.ts';
import { type Store } from '../../store/open-store.ts';
import { type CliContext } from '../cli-context.ts';
import { type ParsedOptions } from '../config-options.ts';
import { withCore } from '../with-core.ts';

/** Result of an export: as JSON, and as one line. */
export interface Exported {
  readonly summary: object;
  readonly text: string;
}

/** Parameters of an export in any format. */
export interface ExportRequest {
  readonly path: string;
  readonly isWhole: boolean;
  /** Restricts the export to a chain. */
  readonly chain?: string;
  /** Layout of a tree. */
  readonly layout: TreeLayout;
  /** Whether an SQL export also includes Sourcify's tables. */
  readonly withSourcify: boolean;
  readonly options: ParsedOptions;
  readonly context: CliContext;
}

/**
 * Returns the id of the chain to which the export is restricted; an id need not be in the registry.
 * @throws FullmatchError `chain_not_found`
 */
export async function chainOf(core: Core, chain: string | undefined): Promise<number | undefined> {
  if (chain === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(chain)) return Number(chain);
  return findChain((await core.registry()).registry, chain).record.chainId;
}

/** Runs an export with one reader of a snapshot. @throws as {@link withCore} and {@link chainOf} */
export function withSnapshotReader<T>(
  { chain, options, context }: ExportRequest,
  work: (
    scope: { readonly reader: Queryable; readonly chainId?: number; readonly signal: AbortSignal },
    core: Core,
  ) => Promise<T>,
): Promise<T> {
  const read = async (core: Core): Promise<T> => {
    const chainId = await chainOf(core, chain);
    const store = await openStoreWithSequencedEvents(core);
    return store.onSnapshot(1, ([reader]) => {
      if (reader === undefined) throw new Error('a snapshot has a reader');
      const { signal } = context;
      return work({ reader, signal, ...(chainId !== undefined && { chainId }) }, core);
    });
  };
  return withCore(options, context, 'export', read, { registry: 'stored' });
}

/** Renders the progress of an export by table. */
export function renderTableProgress({
  table,
  rows,
}: {
  readonly table: string;
  readonly rows: number;
}): string {
  return `${table}: ${rows} rows`;
}

/** Opens the store and numbers all stored events in the feed, since no running service may have done so. */
export async function openStoreWithSequencedEvents(core: Core): Promise<Store> {
  const store = await core.store();
  while (await sequenceEvents(store.database));
  return store;
}
