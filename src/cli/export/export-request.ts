import { findChain } from '../../chains/registry/chain-reference.ts';
import { type Core } from '../../core/open-core.ts';
import { sequenceEvents } from '../../repository/repository.ts';
import { type Store } from '../../store/open-store.ts';
import { type CliContext } from '../cli-context.ts';
import { type ParsedOptions } from '../config-options.ts';

/** What was exported: as JSON, and in a line. */
export interface Exported {
  readonly summary: object;
  readonly text: string;
}

/** What an export of any format is told. */
export interface ExportRequest {
  readonly path: string;
  readonly isWhole: boolean;
  /** The chain to export alone. */
  readonly chain?: string;
  /** Whether SQL has the tables of Sourcify too. */
  readonly withSourcify: boolean;
  readonly options: ParsedOptions;
  readonly context: CliContext;
}

/** The chain that is exported alone; an id also where the registry does not have it. @throws FullmatchError `chain_not_found` */
export async function chainOf(core: Core, chain: string | undefined): Promise<number | undefined> {
  if (chain === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(chain)) return Number(chain);
  return findChain((await core.registry()).registry, chain).record.chainId;
}

/** The store, with every stored event in the feed: where nothing serves, nobody else has numbered what was stored since. */
export async function openNumbered(core: Core): Promise<Store> {
  const store = await core.store();
  while (await sequenceEvents(store.database));
  return store;
}
