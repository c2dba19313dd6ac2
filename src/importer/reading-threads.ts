import { FullmatchError } from '../errors.ts';
import { packageFile } from '../lib/package-file.ts';
import { ThreadFault } from '../lib/task-thread.ts';
import { type Match, type PackedContracts } from '../repository/repository.ts';
import { type ContractFolder } from './contract-folder.ts';
import { type DeliveredContract, copyForTransfer } from './delivered-contract.ts';
import { type ImportLimits } from './import-limits.ts';
import { type ContractLocation } from './read-contract.ts';
import { Refusal, type RefusalReason } from './refusal.ts';
import { ThreadPool } from './thread-pool.ts';

/** A file held in memory, or the reason it cannot be read. */
export type BufferedFile = Uint8Array | { readonly reason: RefusalReason };

/** A contract for a thread: its folder, its files, or its rows from another service. */
export interface TransferableContract extends Pick<
  ContractLocation,
  'match' | 'chainId' | 'address' | 'path' | 'folder'
> {
  readonly files?: {
    readonly files: readonly (readonly [string, BufferedFile])[];
    readonly sources: readonly (readonly [string, BufferedFile])[];
  };
  readonly delivered?: DeliveredContract;
}

/** Contracts to read, in order. */
export interface ContractReadRequest {
  readonly contracts: readonly TransferableContract[];
  readonly limits: ImportLimits;
  /** Number of the first one among the staged rows. */
  readonly number: number;
  /** Whether they are checked without building rows. */
  readonly isCheck?: true;
  /** Name of their source, recorded with each match. */
  readonly sourceName?: string;
}

/** Outcome of a contract: the match found, or the refusal. */
export type ReadOutcome =
  { readonly match: Match } | { readonly refusal: Pick<Refusal, 'reason' | 'message'> };

/** Outcomes of the first contracts of the request, and the rows of the valid ones; it may end before the last. */
export interface ContractReadResult {
  readonly outcomes: readonly ReadOutcome[];
  readonly packed: PackedContracts;
}

/** Threads that read contracts, so that the writing thread does not parse, hash or decode. */
export class ReadingThreads {
  readonly #threads = new ThreadPool<ContractReadRequest, ContractReadResult>(
    packageFile('dist/importer/read-contracts-thread.js'),
  );

  get count(): number {
    return this.#threads.count;
  }

  /** Sends a request to the least busy thread. A contract that crashes a thread is refused alone. */
  async ask(question: ContractReadRequest): Promise<ContractReadResult> {
    try {
      return await this.#threads.ask(question);
    } catch (error) {
      if (!(error instanceof ThreadFault) || error.kind === 'closed') throw error;
      const [contract, ...others] = question.contracts;
      if (contract === undefined) throw error;
      if (others.length > 0) {
        return await this.ask({ ...question, contracts: question.contracts.slice(0, 1) });
      }
      return { outcomes: [{ refusal: refusalOf(error, contract.path) }], packed: NOTHING };
    }
  }

  async close(): Promise<void> {
    await this.#threads.close();
  }
}

const NOTHING: PackedContracts = {
  ...{ contracts: [], compilations: [], sources: [], codes: [], bytes: new Uint8Array(0) },
};

function refusalOf({ kind, cause }: ThreadFault, path: string): Refusal {
  if (kind === 'out_of_memory' || kind === 'timed_out') {
    const what = kind === 'timed_out' ? 'time' : 'memory';
    return new Refusal('file_too_large', path, `reading it takes too much ${what}`);
  }
  throw new FullmatchError('internal_error', `a thread that reads contracts ended at ${path}`, {
    cause,
  });
}

/**
 * Converts a contract for a thread; if it is not a folder, its files are extracted here.
 * @throws Refusal
 */
export async function toTransferable(
  { match, chainId, address, path, folder, list }: ContractLocation,
  limits: ImportLimits,
): Promise<TransferableContract> {
  const place = { match, chainId, address, path };
  if (folder !== undefined) return { ...place, folder };
  const found = await list(limits);
  if ('facts' in found) return { ...place, delivered: copyForTransfer(found) };
  const files = { files: await holdAll(found.files), sources: await holdAll(found.sources) };
  return { ...place, files };
}

async function holdAll(
  files: ContractFolder['files'],
): Promise<readonly (readonly [string, BufferedFile])[]> {
  const held: (readonly [string, BufferedFile])[] = [];
  for (const [name, read] of files) {
    // Small buffers share an ArrayBuffer with others, which would all be copied along.
    const file = await read(name, Infinity).then(
      (bytes): BufferedFile => new Uint8Array(bytes),
      (error: unknown): BufferedFile => {
        if (error instanceof Refusal) return { reason: error.reason };
        throw error;
      },
    );
    held.push([name, file]);
  }
  return held;
}
