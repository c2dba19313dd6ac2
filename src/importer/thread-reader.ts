import { messageOf } from '../errors.ts';
import { printableText } from '../lib/printable-text.ts';
import { ContractPacker } from '../repository/repository.ts';
import { ContentHasher } from './content-hash.ts';
import { type ContractFolder, type FileReader } from './contract-folder.ts';
import { type ContractLocation, readContract, type ReadContract } from './read-contract.ts';
import {
  type BufferedFile,
  type ContractReadResult,
  type ReadOutcome,
  type ContractReadRequest,
  type TransferableContract,
} from './reading-threads.ts';
import { Refusal, toRefusal } from './refusal.ts';
import { listOf } from './repository-tree.ts';

/** A response that exceeds this size ends early. */
const ANSWER_BYTES = 8 * 1024 * 1024;

/** Reads and checks contracts and builds their rows, one request at a time. It caches the hashes of what it read. */
export class ThreadReader {
  readonly #hasher = new ContentHasher();

  async answer(question: ContractReadRequest): Promise<ContractReadResult> {
    const { contracts, number, isCheck } = question;
    const packer = new ContractPacker((hash, content) =>
      Buffer.from(this.#hasher.keccakOf(hash, content).slice(2), 'hex'),
    );
    const outcomes: ReadOutcome[] = [];
    for (const sent of contracts) {
      const read = await this.#read(sent, question);
      const kept =
        read instanceof Refusal || isCheck === true
          ? read
          : pack(packer, read, number + outcomes.length);
      if (kept instanceof Refusal) {
        const { reason, message } = kept;
        outcomes.push({ refusal: { reason, message } });
      } else outcomes.push({ match: kept.match });
      if (packer.length >= ANSWER_BYTES) break;
    }
    return { outcomes, packed: packer.take() };
  }

  async #read(
    sent: TransferableContract,
    { limits, sourceName }: ContractReadRequest,
  ): Promise<ReadContract | Refusal> {
    try {
      return await readContract(locationOf(sent), limits, this.#hasher, sourceName);
    } catch (error) {
      // JSON nested too deeply to serialize.
      if (error instanceof RangeError) return new Refusal('broken_row', sent.path);
      const refusal = toRefusal(error, sent.path);
      if (refusal instanceof Refusal) return refusal;
      throw error;
    }
  }
}

/** Builds the rows of a contract. If its values cannot be written, it is refused, as the database would. */
function pack(packer: ContractPacker, read: ReadContract, number: number): ReadContract | Refusal {
  try {
    packer.add(read.contract, number);
    return read;
  } catch (error) {
    return new Refusal('not_storable', read.contract.address, printableText(messageOf(error)));
  }
}

function locationOf({ files, delivered, ...place }: TransferableContract): ContractLocation {
  const { folder } = place;
  if (folder !== undefined) return { ...place, list: listOf(folder) };
  if (delivered !== undefined) return { ...place, list: () => Promise.resolve(delivered) };
  const held: ContractFolder = {
    files: readersOf(files?.files),
    sources: readersOf(files?.sources),
  };
  return { ...place, list: () => Promise.resolve(held) };
}

const readersOf = (
  files: readonly (readonly [string, BufferedFile])[] = [],
): Map<string, FileReader> => new Map(files.map(([name, file]) => [name, readerOf(file)]));

const readerOf =
  (file: BufferedFile): FileReader =>
  (subject, maxBytes) => {
    if (!(file instanceof Uint8Array)) {
      return Promise.reject(new Refusal(file.reason, subject));
    }
    const { buffer, byteOffset, length } = file;
    if (length <= maxBytes) return Promise.resolve(Buffer.from(buffer, byteOffset, length));
    const more = `larger than the limit of ${maxBytes} bytes`;
    return Promise.reject(new Refusal('file_too_large', subject, more));
  };
