import path from 'node:path';
import { type Command } from 'commander';
import { findChain } from '../chains/registry/chain-reference.ts';
import { type Core } from '../core/open-core.ts';
import { FullmatchError } from '../errors.ts';
import { describeAddressFault, isTransactionHash, type Hex } from '../lib/hex.ts';
import { failureKindOf, toVerificationFailure } from '../verification/verification-failure.ts';
import { toDroppedSources } from '../verification/jobs/verification-job.ts';
import { type VerificationRequest } from '../verification/verification-request.ts';
import { readVerificationTask } from '../verification/compilation/read-compilation-task.ts';
import { verifyAndSave, verifyCurrentCode } from '../verification/recheck/verify-and-save.ts';
import { writeJson, writeLine, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { readVerificationInput } from './verification-input.ts';
import { failureOf, outcomeText, type VerificationOutcome } from './verification-outcome.ts';
import { RemoteService } from './verify-remotely.ts';
import { withCore } from './with-core.ts';

/** `fullmatch verify`: exits 0 with a match, 6 without, 75 when it could not be checked. */
export function defineVerify(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<chain>', 'Its id (1, 0x1, eip155:1), short name or name.')
    .argument('<address>', 'The address of the contract.')
    .argument(
      '<input>',
      'A standard JSON input, a build info file of Hardhat, a metadata.json, or the folder of a Foundry project.',
    )
    .option('--contract <path:Name>', 'The contract in the input.')
    .option('--compiler <version>', 'The compiler of a standard JSON input, such as 0.8.30.')
    .option('--sources <folder>', 'Where the sources of a metadata.json lie, if not beside it.')
    .option('--creation-transaction <hash>', 'The transaction that created the contract.')
    .option('--url <url>', 'The API host of a running service, such as http://localhost:5555.')
    .option('--wait', 'With --url: waits for the outcome instead of printing the job.')
    .option('--json', 'Prints JSON.')
    .action(async (chain: string, address: string, input: string, options: ParsedOptions) => {
      const url = options['url'];
      const request = await readRequest(address, input, options, context);
      if (typeof url === 'string') await runRemotely(url, chain, request, options, context);
      else {
        const verify = (core: Core): Promise<VerificationOutcome> =>
          runHere(core, chain, request, context.signal);
        report(await withCore(options, context, 'verify', verify), options, context);
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
  const fault = describeAddressFault(address);
  if (fault !== undefined) throw new FullmatchError('invalid_parameter', `<address>: ${fault}.`);
  const hash = textOf(options, 'creationTransaction');
  if (hash !== undefined && !isTransactionHash(hash)) {
    throw new FullmatchError(
      'invalid_parameter',
      '--creation-transaction is not 0x and 64 hex digits.',
    );
  }
  const contract = textOf(options, 'contract');
  const compiler = textOf(options, 'compiler');
  const sources = textOf(options, 'sources');
  const compilation = await readVerificationInput(path.resolve(workingDirectory, input), {
    ...(contract !== undefined && { contract }),
    ...(compiler !== undefined && { compiler }),
    ...(sources !== undefined && { sources: path.resolve(workingDirectory, sources) }),
  });
  return {
    address: address.toLowerCase() as Hex,
    ...(hash !== undefined && { creationTransactionHash: hash.toLowerCase() as Hex }),
    compilation,
  };
}

async function runHere(
  core: Core,
  chain: string,
  request: ChainlessRequest,
  signal: AbortSignal,
): Promise<VerificationOutcome> {
  const { chainId } = findChain((await core.registry()).registry, chain).record;
  const { address } = request;
  const parts = await core.verificationParts();
  const log = await core.log();
  try {
    const task = readVerificationTask({ ...request, chainId }, parts.sourceBytes);
    const { database } = await core.store();
    const { result, saved } = await verifyAndSave(database, () =>
      verifyCurrentCode(database, parts, task, signal, log),
    );
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
  }
}

async function runRemotely(
  url: string,
  chain: string,
  request: ChainlessRequest,
  options: ParsedOptions,
  context: CliContext,
): Promise<void> {
  const service = new RemoteService(url);
  try {
    const chainId = await service.findChainId(chain);
    const id = await service.submit({ ...request, chainId });
    if (options['wait']) report(await service.waitFor(id, context.signal), options, context);
    else if (options['json']) writeJson(context.stdout, { verificationId: id });
    else writeLine(context.stdout, `verification job ${id}`);
  } finally {
    await service.close();
  }
}

function report(
  outcome: VerificationOutcome,
  options: ParsedOptions,
  { stdout }: CliContext,
): void {
  const failure = failureOf(outcome);
  if (failure !== undefined) throw failure;
  if (options['json']) writeJson(stdout, outcome);
  else stdout.write(outcomeText(outcome));
}
