import { type Command } from 'commander';
import { findChain } from '../chains/registry/chain-reference.ts';
import { lookupFailed, type CreationSearch } from '../chains/creation/creation-search.ts';
import { type Creation } from '../chains/rpc/creation.ts';
import { FullmatchError } from '../errors.ts';
import { checksumAddress, type Hex } from '../lib/hex.ts';
import { writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { readAddress, readTransactionHash } from './read-argument.ts';
import { renderTable } from './table.ts';
import { withCore } from './with-core.ts';

/** `fullmatch creation-transaction`: exits 0 if it is found, 1 if not, 75 if not every method could be tried. */
export function defineCreationTransaction(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<chain>', 'Chain id (1, 0x1, eip155:1), short name or name.')
    .argument('<address>', 'The address of the contract.')
    .option('--transaction <hash>', 'A transaction to check first.')
    .option('--json', 'Print JSON.')
    .action(async (chain: string, address: string, options: ParsedOptions) => {
      const read = readAddress(address);
      const submitted = readTransactionHash('transaction', options['transaction']);
      const found = await search(chain, read, submitted, options, context);
      writeResult(context, options, toJson(found), () => toText(found));
      const failure = failureOf(found);
      if (failure !== undefined) throw failure;
    });
}

interface Found extends CreationSearch {
  readonly chainId: number;
  readonly address: Hex;
}

function search(
  ref: string,
  address: Hex,
  submitted: Hex | undefined,
  options: ParsedOptions,
  context: CliContext,
): Promise<Found> {
  return withCore(options, context, 'creation-transaction', async (core) => {
    const chain = findChain((await core.registry()).registry, ref);
    const { chainId } = chain.record;
    const { findCreation, quorumOf } = await core.chains();
    const quorum = quorumOf(chainId);
    const found = await findCreation(chain, address, {
      signal: context.signal,
      ...(submitted && { submitted }),
      ...(quorum && { quorum }),
    });
    return { ...found, chainId, address: checksumAddress(address) };
  });
}

function toJson({ chainId, address, creation, methods }: Found): unknown {
  return { chainId, address, creation: creation === undefined ? null : factsOf(creation), methods };
}

/** Describes the creation without its bytecode, which may be large. */
function factsOf({ transactionHash, blockNumber, transactionIndex, ...rest }: Creation): object {
  const deployer = checksumAddress(rest.deployer);
  const { endpoints } = rest;
  return { transactionHash, blockNumber, transactionIndex, deployer, endpoints };
}

function toText({ chainId, address, creation, methods }: Found): string {
  const rows = methods.map(({ method, outcome, durationMs, transactionHash, detail }) => [
    method,
    outcome,
    outcome === 'not_needed' ? '-' : `${durationMs} ms`,
    transactionHash ?? '-',
    detail ?? '-',
  ]);
  const table = renderTable(['method', 'outcome', 'time', 'transaction', 'detail'], rows);
  return `${address} on chain ${chainId}\n${table}${creation === undefined ? '' : sentenceOf(creation)}`;
}

function sentenceOf({
  transactionHash,
  blockNumber,
  transactionIndex,
  deployer,
  endpoints,
}: Creation): string {
  return (
    `created by ${checksumAddress(deployer)} in ${transactionHash}, ` +
    `transaction ${transactionIndex} of block ${blockNumber}, according to ${endpoints.join(' and ')}\n`
  );
}

/** A negative result is conclusive only if every method could be tried. */
function failureOf({ chainId, address, creation, methods }: Found): FullmatchError | undefined {
  if (creation !== undefined) return undefined;
  const details = { chainId, address };
  const where = `${address} on chain ${chainId}`;
  if (methods.some(({ outcome }) => outcome === 'no_code')) {
    return new FullmatchError('contract_not_deployed', `There is no code at ${where}.`, {
      details,
    });
  }
  const blind = methods.filter(lookupFailed).map(({ method }) => method);
  if (blind.length > 0) {
    return new FullmatchError(
      'not_checked',
      `The creation of ${where} was not found, and ${blind.join(' and ')} failed.`,
      { details: { ...details, methods: blind } },
    );
  }
  return new FullmatchError(
    'creation_transaction_not_found',
    `No method finds the creation of ${where}: pass --transaction, or configure an archive endpoint with traces, or contractFetchAddress and txRegex.`,
    { details },
  );
}
