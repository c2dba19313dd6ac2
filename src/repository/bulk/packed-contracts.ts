import { keccak256 } from '../../lib/keccak.ts';
import { CopyRows } from '../../store/copy-rows.ts';
import { type ColumnValue, type Relation } from '../evidence/carried-statement.ts';
import {
  CODES,
  COMPILATION_SOURCES,
  COMPILATIONS,
  CONTRACTS,
  SOURCES,
} from '../evidence/evidence-rows.ts';
import { codesOf, compiledSource } from '../evidence/evidence.ts';
import { numberContract, type NumberedContract } from '../matches/save-matches.ts';
import { hashOf, sourceHash } from '../matches/verified-contract-identity.ts';
import {
  type Compilation,
  type Source,
  type VerifiedContract,
} from '../matches/verified-contract.ts';

/** Rows of a relation to stage, as a range of {@link PackedContracts.bytes}. */
type Span = readonly [from: number, to: number];

/** A bytecode or source, by the hex digits of its SHA-256. */
export interface PackedContent {
  readonly hash: string;
  readonly row: Span;
}

/** A compilation with its references, each by hash. */
export interface PackedCompilation {
  readonly id: string;
  readonly row: Span;
  readonly sources: Span;
  readonly sourceHashes: readonly string[];
}

/** A contract with its rows; it is numbered among the staged rows. */
export interface PackedContract extends Omit<NumberedContract, 'judged'> {
  readonly row: Span;
  readonly codeHashes: readonly string[];
}

/** Contracts as COPY rows, built on another thread than the one that writes them. */
export interface PackedContracts {
  readonly contracts: readonly PackedContract[];
  readonly compilations: readonly PackedCompilation[];
  readonly sources: readonly PackedContent[];
  readonly codes: readonly PackedContent[];
  /** All rows, in an ArrayBuffer of their own, which can be transferred. */
  readonly bytes: Uint8Array;
}

/** Hashes a source or bytecode whose SHA-256 is known, as hex digits. */
export type KeccakOf = (hash: string, content: Uint8Array | string) => Uint8Array;

const keccakOf: KeccakOf = (_hash, content) =>
  keccak256(typeof content === 'string' ? Buffer.from(content, 'utf8') : content);

function writeValue(rows: CopyRows, type: string, value: ColumnValue): void {
  if (value === null) rows.nothing();
  else if (typeof value === 'number') rows.bigint(value);
  else if (typeof value === 'boolean') rows.boolean(value);
  else if (value instanceof Uint8Array) rows.bytes(value);
  else if (type === 'uuid') rows.uuid(value);
  else rows.text(value);
}

/**
 * Builds the rows of claimed contracts: ids, hashes and texts, with each content, compilation and bytecode
 * once. The bytecode of such a contract must not have been read on chain here: see {@link
 * VerifiedContract.readAfterEvent}.
 */
export class ContractPacker {
  readonly #keccakOf: KeccakOf;
  readonly #rows = new CopyRows();
  #contracts: PackedContract[] = [];
  #compilations = new Map<string, PackedCompilation>();
  #sources = new Map<string, PackedContent>();
  #codes = new Map<string, PackedContent>();

  constructor(keccak: KeccakOf = keccakOf) {
    this.#keccakOf = keccak;
  }

  /** Bytes of the rows so far. */
  get length(): number {
    return this.#rows.length;
  }

  /** Adds a contract; if its values cannot be written, such as JSON nested too deeply, throws and leaves it out. */
  add(contract: VerifiedContract, number: number): void {
    const from = this.#rows.length;
    try {
      this.#add(contract, number);
    } catch (error) {
      this.#rows.cut(from);
      for (const found of [this.#sources, this.#codes]) {
        for (const [hash, { row }] of found) if (row[0] >= from) found.delete(hash);
      }
      throw error;
    }
  }

  #add(contract: VerifiedContract, number: number): void {
    const { compilation } = contract;
    const { judged, ...numbered } = numberContract(contract, number);
    const id = numbered.compilationId;
    const compiled = [compilation.creationCode, compilation.runtimeCode];
    const codes = [...codesOf(judged), ...compiled.flatMap((code) => code ?? [])];
    const packed: PackedContract = {
      ...numbered,
      row: this.#write(CONTRACTS, contract, number),
      codeHashes: codes.map((code) => this.#addCode(code)),
    };
    if (!this.#compilations.has(id)) this.#compilations.set(id, this.#pack(id, compilation));
    this.#contracts.push(packed);
  }

  #pack(id: string, compilation: Compilation): PackedCompilation {
    const { sources } = compilation;
    const from = this.#rows.length;
    for (const source of sources) this.#write(COMPILATION_SOURCES, compiledSource(id, source));
    const span: Span = [from, this.#rows.length];
    const row = this.#write(COMPILATIONS, compilation);
    const sourceHashes = sources.map((source) => this.#addSource(source));
    return { id, row, sources: span, sourceHashes };
  }

  /** Takes what was added since the last call. */
  take(): PackedContracts {
    const packed = {
      contracts: this.#contracts,
      compilations: [...this.#compilations.values()],
      sources: [...this.#sources.values()],
      codes: [...this.#codes.values()],
      bytes: this.#rows.take(),
    };
    this.#contracts = [];
    this.#compilations = new Map();
    this.#sources = new Map();
    this.#codes = new Map();
    return packed;
  }

  #addSource(source: Source): string {
    const sha256 = sourceHash(source);
    const hash = sha256.toString('hex');
    const { content } = source;
    if (!this.#sources.has(hash)) {
      const keccak = this.#keccakOf(hash, content);
      const row = this.#write(SOURCES, { sha256, keccak256: keccak, content });
      this.#sources.set(hash, { hash, row });
    }
    return hash;
  }

  #addCode(code: Uint8Array): string {
    const sha256 = hashOf(code) ?? Buffer.alloc(0);
    const hash = sha256.toString('hex');
    if (!this.#codes.has(hash)) {
      const keccak = this.#keccakOf(hash, code);
      const row = this.#write(CODES, { sha256, keccak256: keccak, content: code });
      this.#codes.set(hash, { hash, row });
    }
    return hash;
  }

  #write<Item>({ columns }: Relation<Item>, item: Item, number?: number): Span {
    const rows = this.#rows;
    const from = rows.length;
    const all = Object.values(columns);
    rows.begin(all.length + (number === undefined ? 0 : 1));
    if (number !== undefined) rows.integer(number);
    for (const [type, valueOf] of all) writeValue(rows, type, valueOf(item));
    return [from, rows.length];
  }
}
