import { type Command } from 'commander';
import { findChain } from '../chains/registry/chain-reference.ts';
import { type Core } from '../core/open-core.ts';
import { checksumAddress } from '../lib/hex.ts';
import { hideSources, readWithdrawnMatch, withdrawMatch } from '../repository/repository.ts';
import { writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { readAddress } from './read-argument.ts';
import { withCore } from './with-core.ts';

/** `fullmatch withdraw`: withdraws the match of an address. */
export function defineWithdraw(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<chain>', 'Chain id, CAIP-2 id, short name or name: 1, 0x1, eip155:1, eth.')
    .argument('<address>', 'The address, in one case or with a valid checksum.')
    .requiredOption('--reason <text>', 'The reason, shown to everyone.')
    .option(
      '--hide-sources',
      'Do not show the withdrawn sources; also for a match that was withdrawn earlier.',
    )
    .option('--json', 'Print JSON.')
    .action(async (ref: string, address: string, options: ParsedOptions) => {
      const wanted = { address: readAddress(address), reason: String(options['reason']) };
      const withdraw = async (core: Core): Promise<void> => {
        const { chainId, name } = findChain((await core.registry()).registry, ref).record;
        const { database } = await core.store();
        const shown = checksumAddress(wanted.address);
        const hidesSources = options['hideSources'] === true;
        const earlier =
          hidesSources && (await readWithdrawnMatch(database, chainId, wanted.address));
        if (earlier) {
          await hideSources(database, { chainId, ...wanted });
          const text = `hid the sources of ${shown}, which was withdrawn before\n`;
          writeResult(context, options, { chainId, address: shown, hidesSources }, () => text);
          return;
        }
        const { match, eventNumber } = await withdrawMatch(database, {
          chainId,
          ...wanted,
          hidesSources,
        });
        const text = `withdrew the ${match} match of ${shown} on chain ${chainId} (${name})\n`;
        writeResult(context, options, { chainId, address: shown, match, eventNumber }, () => text);
      };
      await withCore(options, context, 'withdraw', withdraw, { registry: 'stored' });
    });
}
