import { type Command } from 'commander';
import { findChain } from '../chains/registry/chain-reference.ts';
import { type ChainRegistry } from '../chains/registry/registry.ts';
import { type Core } from '../core/open-core.ts';
import { FullmatchError } from '../errors.ts';
import { checksumAddress, type Hex } from '../lib/hex.ts';
import { listContracts, readContractChainIds } from '../repository/repository.ts';
import { type Database } from '../store/database.ts';
import { recheckMatch, type CodeCheck } from '../verification/recheck/code-check.ts';
import { writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { invalid, readAddress } from './read-argument.ts';
import { renderTable } from './table.ts';
import { withCore } from './with-core.ts';
import { countOf } from '../lib/count-of.ts';

const PAGE_SIZE = 200;

type Checked = { readonly chainId: number; readonly address: Hex } & CodeCheck;

/** `fullmatch recheck`: exits 75 if bytecode could not be read. */
export function defineRecheck(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('[chain]', 'Chain id, CAIP-2 id, short name or name; required unless --all is given.')
    .argument('[address]', 'One contract of the chain; default: all.')
    .option('--all', 'All verified contracts of all supported chains.')
    .option('--json', 'Print JSON.')
    .action(async (ref: string | undefined, text: string | undefined, options: ParsedOptions) => {
      const address = readContractChoice(ref, text, options);
      const checked = await recheck(ref, address, options, context);
      writeResult(context, options, checked.map(describe), () => textOf(checked));
      const missed = checked.filter(({ outcome }) => outcome === 'not_checked').length;
      if (missed > 0) {
        throw new FullmatchError(
          'not_checked',
          `The code of ${countOf(missed, 'contract')} could not be read.`,
          {
            details: { contracts: missed },
          },
        );
      }
    });
}

/**
 * Reads which contracts a command applies to: one, those of a chain, or all.
 * @throws FullmatchError invalid_parameter
 */
export function readContractChoice(
  ref: string | undefined,
  text: string | undefined,
  options: ParsedOptions,
): Hex | undefined {
  if (ref === undefined && options['all'] !== true) {
    throw invalid('chain', 'Name a chain, or give --all for every supported chain.');
  }
  return text === undefined ? undefined : readAddress(text);
}

function recheck(
  ref: string | undefined,
  address: Hex | undefined,
  options: ParsedOptions,
  context: CliContext,
): Promise<readonly Checked[]> {
  const checkAll = async (core: Core): Promise<readonly Checked[]> => {
    const { registry } = await core.registry();
    const { database } = await core.store();
    const readers = await core.chains();
    const checked: Checked[] = [];
    for await (const found of findContracts(database, registry, ref, address)) {
      const check = await recheckMatch(database, readers, found.chain, found.address, {
        signal: context.signal,
        comparesFacts: true,
      });
      const { chainId } = found.chain.record;
      // Unchanged contracts are only counted, since there may be thousands.
      if (check.outcome !== 'same' || address !== undefined || options['json']) {
        checked.push({ chainId, address: found.address, ...check });
      }
    }
    return checked;
  };
  return withCore(options, context, 'recheck', checkAll, { registry: 'stored' });
}

/** Returns the named chain, or all supported chains that have contracts. */
export async function chooseChains(
  database: Database,
  registry: ChainRegistry,
  ref: string | undefined,
  needsSupport = true,
): Promise<ChainRegistry['chains']> {
  if (ref !== undefined) return [findChain(registry, ref)];
  const withContracts = await readContractChainIds(database);
  return registry.chains.filter(
    ({ record }) => (record.supported || !needsSupport) && withContracts.includes(record.chainId),
  );
}

/** Yields the verified contracts of a chain or of all supported chains, or the one at an address. */
async function* findContracts(
  database: Database,
  registry: ChainRegistry,
  ref: string | undefined,
  address: Hex | undefined,
): AsyncGenerator<{ readonly chain: ChainRegistry['chains'][number]; readonly address: Hex }> {
  for (const chain of await chooseChains(database, registry, ref)) {
    if (address !== undefined) {
      yield { chain, address };
      continue;
    }
    let afterMatchId: string | undefined;
    for (;;) {
      const page = await listContracts(database, chain.record.chainId, {
        order: 'ascending',
        limit: PAGE_SIZE,
        ...(afterMatchId !== undefined && { afterMatchId }),
      });
      for (const match of page) yield { chain, address: match.address };
      afterMatchId = page.at(-1)?.matchId;
      if (page.length < PAGE_SIZE) break;
    }
  }
}

function describe(checked: Checked): object {
  return { ...checked, address: checksumAddress(checked.address) };
}

function textOf(checked: readonly Checked[]): string {
  if (checked.length === 0) return 'all contracts that could be checked are unchanged\n';
  const rows = checked.map((each) => [
    String(each.chainId),
    checksumAddress(each.address),
    each.outcome === 'not_checked' ? `not_checked (${each.reason})` : each.outcome,
  ]);
  return renderTable(['chain', 'address', 'outcome'], rows);
}
