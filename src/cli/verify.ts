import path from 'node:path';
import { type Command } from 'commander';
import { describeDownload } from '../compilers/compiler-file.ts';
import { findChain } from '../chains/registry/chain-reference.ts';
import { type Core } from '../core/open-core.ts';
import { TOKEN_VARIABLE } from '../config/settings.ts';
import { type Contradiction } from '../repository/repository.ts';
import { type SourceSettings } from '../solidity/build-standard-json.ts';
import { failureKindOf, toVerificationFailure } from '../verification/verification-failure.ts';
import { createProposalReader } from '../verification/propose-compiler.ts';
import { toDroppedSources } from '../verification/jobs/verification-job.ts';
import { type VerificationRequest } from '../verification/verification-request.ts';
import { readVerificationTask } from '../verification/compilation/read-compilation-task.ts';
import { verifyAndSave, verifyCurrentCode } from '../verification/recheck/verify-and-save.ts';
import { type VerificationResult } from '../verification/verify-contract.ts';
import { writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { unusableInput } from './choose-contract.ts';
import { printDownloadProgress } from './download-progress.ts';
import { invalid, readAddress, readTransactionHash } from './read-argument.ts';
import { readVerificationInput } from './verification-input.ts';
import { failureOf, outcomeText, type VerificationOutcome } from './verification-outcome.ts';
import { RemoteService } from './verify-remotely.ts';
import { withCore } from './with-core.ts';

/** `fullmatch verify`: exits 0 with a match, 6 without one, 75 if it could not be checked. */
export function defineVerify(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<chain>', 'Chain id (1, 0x1, eip155:1), short name or name.')
    .argument('<address>', 'The address of the contract.')
    .argument(
      '<input>',
      'A standard JSON input, a build info file of Hardhat, a metadata.json, a contract’s full record or sources.zip, the folder of a Foundry project, a .sol or .vy file, or a folder of them.',
    )
    .option('--contract <path:Name>', 'The contract to verify; the name alone if it is unique.')
    .option(
      '--compiler <version>',
      'Compiler version, such as 0.8.30, for a standard JSON input or plain sources; by default read from the bytecode if possible.',
    )
    .option('--optimizer-runs <number>', 'Optimizer runs, for .sol files.')
    .option('--evm-version <name>', 'EVM version, for .sol and .vy files, such as paris.')
    .option('--via-ir', 'Compile via IR, for .sol files.')
    .option('--library <name=address...>', 'Library address, for .sol files.')
    .option('--remapping <prefix=target...>', 'Import remapping, for .sol files.')
    .option(
      '--sources <folder>',
      'Folder with the sources of a metadata.json; default: its own folder.',
    )
    .option(
      '--try-settings',
      'Try common compiler settings if the code does not match with these; the default for .sol and .vy files.',
    )
    .option('--no-try-settings', 'Use exactly these settings.')
    .option('--creation-transaction <hash>', 'The transaction that created the contract.')
    .option(
      '--url <url>',
      `The API host of a running service, such as http://localhost:5555. If it requires a token, set it in the variable ${TOKEN_VARIABLE}.`,
    )
    .option('--wait', 'With --url: wait for the result instead of printing the job id.')
    .option('--json', 'Print JSON.')
    .action(async (chain: string, address: string, input: string, options: ParsedOptions) => {
      const url = options['url'];
      // Arguments are checked in the order in which they were typed: the chain first.
      const read = (): Promise<ChainlessRequest> => readRequest(address, input, options, context);
      if (typeof url === 'string') await runRemotely(url, chain, read, options, context);
      else {
        const verify = (core: Core): Promise<VerificationOutcome> =>
          runHere(core, chain, read, context);
        report(
          await withCore(options, context, 'verify', verify, { mayCreate: true }),
          options,
          context,
        );
      }
    });
}

type ChainlessRequest = Omit<VerificationRequest, 'chainId'>;

function textOf(options: ParsedOptions, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

async function readRequest(
  address: string,
  input: string,
  options: ParsedOptions,
  { workingDirectory }: CliContext,
): Promise<ChainlessRequest> {
  const read = readAddress(address);
  const hash = readTransactionHash('creation-transaction', options['creationTransaction']);
  const contract = textOf(options, 'contract');
  const compiler = textOf(options, 'compiler');
  const sources = textOf(options, 'sources');
  const { trySettings } = options;
  const compilation = await readVerificationInput(path.resolve(workingDirectory, input), {
    plain: { workingDirectory, settings: readSourceSettings(options) },
    ...(contract !== undefined && { contract }),
    ...(compiler !== undefined && { compiler }),
    ...(sources !== undefined && { sources: path.resolve(workingDirectory, sources) }),
  });
  return {
    address: read,
    ...(hash !== undefined && { creationTransactionHash: hash }),
    compilation:
      compilation.kind === 'standard_json' && typeof trySettings === 'boolean'
        ? { ...compilation, trySettings }
        : compilation,
  };
}

const PAIR = /^([^=]{1,4096})=(.{1,4096})$/;

/** @throws FullmatchError invalid_parameter */
function readSourceSettings(options: ParsedOptions): SourceSettings {
  const runs = textOf(options, 'optimizerRuns');
  if (runs !== undefined && !/^\d{1,10}$/.test(runs)) {
    throw invalid('optimizer-runs', '--optimizer-runs must be a number, such as 200.');
  }
  const evmVersion = textOf(options, 'evmVersion');
  const libraries = listOf(options, 'library').map((text) => {
    const [, name, address] = PAIR.exec(text) ?? [];
    if (name !== undefined && address !== undefined) return [name, address] as const;
    throw invalid('library', '--library must be a name and an address: L=0x….');
  });
  const remappings = listOf(options, 'remapping');
  return {
    ...(runs !== undefined && { optimizer: { enabled: true, runs: Number(runs) } }),
    ...(evmVersion !== undefined && { evmVersion }),
    ...(options['viaIr'] === true && { viaIR: true }),
    ...(libraries.length > 0 && { libraries: Object.fromEntries(libraries) }),
    ...(remappings.length > 0 && { remappings }),
  };
}

function listOf(options: ParsedOptions, name: string): readonly string[] {
  const value: unknown = options[name];
  return Array.isArray(value) ? value.map(String) : [];
}

/** Adds the compiler named by the bytecode on chain if plain sources came without one. */
async function withCompiler<Request extends Pick<ChainlessRequest, 'compilation'>>(
  request: Request,
  propose: () => Promise<string | undefined>,
): Promise<Request> {
  const { compilation } = request;
  if (compilation.kind !== 'standard_json' || compilation.compilerVersion !== '') return request;
  const compilerVersion = await propose();
  if (compilerVersion !== undefined) {
    return { ...request, compilation: { ...compilation, compilerVersion } };
  }
  throw unusableInput(
    'The code on chain does not name its compiler: add --compiler, such as --compiler 0.8.30.',
  );
}

async function runHere(
  core: Core,
  chain: string,
  read: () => Promise<ChainlessRequest>,
  { signal, stderr }: CliContext,
): Promise<VerificationOutcome> {
  const { chainId } = findChain((await core.registry()).registry, chain).record;
  const submitted = await read();
  const { address } = submitted;
  const parts = await core.verificationParts();
  const proposals = createProposalReader(
    parts,
    (language) => parts.compilers.listVersions(language),
    signal,
  );
  const request = await withCompiler(
    submitted,
    async () =>
      (await proposals.propose(chainId, address, { client: 'cli', signal })).compilerVersion,
  );
  const compilers = await core.compilers();
  const stopFollowing = printDownloadProgress(stderr, () =>
    compilers.describeDownloads().map(describeDownload),
  );
  const log = await core.log();
  try {
    const task = readVerificationTask({ ...request, chainId }, parts.sourceBytes);
    const { database } = await core.store();
    const verify = (contradicted: Contradiction[]): Promise<VerificationResult> =>
      verifyCurrentCode(database, parts, task, signal, contradicted);
    const { result, saved } = await verifyAndSave(database, verify, log);
    const { runtimeMatch, creationMatch } = result.contract;
    const droppedSources = toDroppedSources(result.droppedSources);
    return {
      chainId,
      address,
      runtimeMatch,
      creationMatch,
      stored: saved.outcome !== 'unchanged',
      keptBeside: saved.keptBeside === true,
      ...(droppedSources && { droppedSources }),
      ...(result.changedSettings && { changedSettings: result.changedSettings }),
    };
  } catch (error) {
    signal.throwIfAborted();
    const failure = toVerificationFailure(error);
    if (failure.code === 'internal_error') throw error;
    const { code, message, data } = failure;
    return {
      chainId,
      address,
      runtimeMatch: null,
      creationMatch: null,
      failure: { code, kind: failureKindOf(code), message, data },
    };
  } finally {
    stopFollowing();
  }
}

async function runRemotely(
  url: string,
  chain: string,
  read: () => Promise<ChainlessRequest>,
  options: ParsedOptions,
  context: CliContext,
): Promise<void> {
  const service = new RemoteService(url, context.environment[TOKEN_VARIABLE]);
  try {
    const chainId = await service.findChainId(chain);
    const request = await read();
    const named = await withCompiler(request, () => service.propose(chainId, request.address));
    const submitted = await service.submit({ ...named, chainId });
    const page = `${service.url}/contract/${chainId}/${request.address}`;
    if (typeof submitted !== 'string') report(submitted, options, context, page);
    else if (options['wait'])
      report(await service.waitFor(submitted, context), options, context, page);
    else {
      const text = `verification job ${submitted}\n${service.url}/job/${submitted}\n`;
      writeResult(context, options, { verificationId: submitted }, () => text);
    }
  } finally {
    await service.close();
  }
}

function report(
  outcome: VerificationOutcome,
  options: ParsedOptions,
  context: CliContext,
  page?: string,
): void {
  const failure = failureOf(outcome);
  if (failure !== undefined) throw failure;
  const text = outcomeText(outcome) + (page === undefined ? '' : `${page}\n`);
  writeResult(context, options, outcome, () => text);
}
