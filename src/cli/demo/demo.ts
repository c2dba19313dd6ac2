import { type Command } from 'commander';
import {
  DEMONSTRATION_CHAIN_ID,
  demonstrationChain,
} from '../../chains/registry/default-service-chains.ts';
import { listCompilers } from '../../compilers/inspect-compilers.ts';
import { type LoadedConfig } from '../../config/config.ts';
import { type Core } from '../../core/open-core.ts';
import { compilerSourcesOf } from '../../core/open-verification.ts';
import { writeJson, writeLine, type CliContext } from '../cli-context.ts';
import { addConfigOptions, type ParsedOptions } from '../config-options.ts';
import { openDemoNode, type DemoNode } from './demo-node.ts';
import { runDemo, type DemoResult } from './run-demo.ts';
import { showProgress } from '../progress-line.ts';
import { renderTable } from '../table.ts';
import { withCore } from '../with-core.ts';

/** Most compiler versions used in rotation; more would only take longer. */
const COMPILERS = 4;
const OLDEST_COMPILER = [0, 8, 7] as const;

const AFTER_HELP = `
Deploys about 50 small contracts to its own development chain, verifies them like any other contracts, and stores them
under the chain ${DEMONSTRATION_CHAIN_ID}, which is labelled as a demonstration everywhere. It works with or without a running
service. A second run changes nothing. It needs anvil, or the --rpc of a development node.`;

/** `fullmatch demo`: compiles, deploys and verifies real contracts, so that every page has content. */
export function defineDemo(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .option('--rpc <url>', 'A development node with unlocked accounts, instead of anvil.')
    .option('--json', 'Print JSON.')
    .addHelpText('after', AFTER_HELP)
    .action(async (options: ParsedOptions) => {
      const rpc = options['rpc'];
      const node = await openDemoNode(
        {
          ...(typeof rpc === 'string' && { rpc }),
          searchPath: context.environment['PATH'] ?? '',
          workingDirectory: context.workingDirectory,
        },
        context.signal,
      );
      const progress = showProgress(context, (line: string) => line);
      const demonstrate = async (core: Core): Promise<readonly DemoResult[]> => {
        const { database } = await core.store();
        const verification = await core.verificationParts();
        const compilers = await core.compilers();
        const versions = await findVersions(core);
        const onProgress = (done: number, total: number, name: string): void =>
          progress.update(`${done} of ${total}  ${name}`);
        return runDemo(
          { node, database, verification, compilers, versions, onProgress },
          context.signal,
        );
      };
      const adapt = (loaded: LoadedConfig): LoadedConfig => addDemonstration(loaded, node);
      try {
        const results = await withCore(options, context, 'demo', demonstrate, {
          adapt,
          mayCreate: true,
        }).finally(progress.end);
        report(results, options, context);
      } finally {
        await node.close();
      }
    });
}

/** Adds the node's chain to the configuration, with a quorum of one. */
function addDemonstration({ config, ...loaded }: LoadedConfig, node: DemoNode): LoadedConfig {
  const chains = new Map(config.chains).set(DEMONSTRATION_CHAIN_ID, {
    ...demonstrationChain,
    supported: true,
    local: true,
    quorum: 1,
    rpc: [node.url],
  });
  return { ...loaded, config: { ...config, chains } };
}

/** Finds the newest installed compilers, which the contracts use in rotation. */
async function findVersions(core: Core): Promise<readonly string[]> {
  const { fetch } = await core.chains();
  const here = await listCompilers(compilerSourcesOf(core.loaded.config, fetch));
  return here
    .filter(({ file }) => file !== undefined)
    .map(({ longVersion }) => longVersion)
    .filter(isNewEnough)
    .slice(-COMPILERS);
}

function isNewEnough(longVersion: string): boolean {
  const [major = 0, minor = 0, patch = 0] = longVersion.split(/[.+-]/).map(Number);
  const [oldMajor, oldMinor, oldPatch] = OLDEST_COMPILER;
  return major === oldMajor && minor === oldMinor && patch >= oldPatch;
}

function report(
  results: readonly DemoResult[],
  options: ParsedOptions,
  { stdout }: CliContext,
): void {
  const count = (outcome: DemoResult['outcome']): number =>
    results.filter((result) => result.outcome === outcome).length;
  const counts = {
    stored: count('stored') + count('upgraded'),
    unchanged: count('unchanged'),
    withdrawn: count('withdrawn'),
  };
  if (options['json']) {
    writeJson(stdout, { chainId: DEMONSTRATION_CHAIN_ID, ...counts, contracts: results });
    return;
  }
  stdout.write(
    renderTable(
      ['contract', 'kind', 'address', 'runtime', 'creation', 'outcome'],
      results.map(({ name, kind, address, runtimeMatch, creationMatch, outcome }) => [
        name,
        kind,
        address,
        runtimeMatch ?? 'none',
        creationMatch ?? 'none',
        outcome,
      ]),
    ),
  );
  writeLine(
    stdout,
    `${counts.stored} stored, ${counts.unchanged} already stored, ${counts.withdrawn} withdrawn; chain ${DEMONSTRATION_CHAIN_ID} (${demonstrationChain.name ?? ''})`,
  );
  writeLine(stdout, 'To see them, run fullmatch start and open the page Contracts.');
}
