import { type Command } from 'commander';
import { findChain } from '../chains/registry/chain-reference.ts';
import { FullmatchError } from '../errors.ts';
import { checksumAddress, parseAddress, type Hex } from '../lib/hex.ts';
import { readStatistics } from '../repository/statistics/statistics.ts';
import { withdrawMatch } from '../repository/matches/withdraw-match.ts';
import { loadRegistry } from './chain-registry.ts';
import { writeJson, writeLine, type CliContext } from './cli-context.ts';
import { withStore } from './command-store.ts';
import { addConfigOptions, loadCommandConfig, type ParsedOptions } from './config-options.ts';
import { createCommandLog } from './terminal-log.ts';

/** `fullmatch withdraw`: takes the match of an address back. */
export function defineWithdraw(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<chain>', 'An id, a CAIP-2 id, a short name or a name: 1, 0x1, eip155:1, eth.')
    .argument('<address>', 'The address, with a right checksum or in one case.')
    .requiredOption('--reason <text>', 'Why, for everyone who asks later.')
    .option('--json', 'Prints JSON.')
    .action(async (ref: string, address: string, options: ParsedOptions) => {
      const loaded = loadCommandConfig(options, context);
      const log = createCommandLog(loaded, context);
      const wanted = { address: readAddress(address), reason: String(options['reason']) };
      await withStore(loaded.config, 'withdraw', log, async ({ database }) => {
        const { chains } = await readStatistics(database);
        const contractChainIds = chains.map(({ chainId }) => chainId);
        const registry = await loadRegistry(loaded.config, contractChainIds);
        const { chainId, name } = findChain(registry, ref).record;
        const { match, eventId } = await withdrawMatch(database, { chainId, ...wanted });
        const shown = checksumAddress(wanted.address);
        if (options['json']) {
          writeJson(context.stdout, { chainId, address: shown, match, eventId });
        } else {
          writeLine(
            context.stdout,
            `withdrew the ${match} match of ${shown} on chain ${chainId} (${name})`,
          );
        }
      });
    });
}

function readAddress(text: string): Hex {
  const address = parseAddress(text);
  if (address !== undefined) return address;
  throw new FullmatchError(
    'invalid_parameter',
    'The address is not 0x and 40 hex digits in one case or with a right checksum (EIP-55); copy it again from its source.',
    { details: { parameter: 'address' } },
  );
}
