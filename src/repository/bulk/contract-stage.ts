// Stores many contracts at once: their rows are staged by COPY, and then stored by the rules of saveMatches.
import { COPY_BEGIN, COPY_END } from '../../store/copy-rows.ts';
import { sql, type Queryable, type Session, type Statement } from '../../store/database.ts';
import { type CarriedStatement, type Relation, stagedType } from '../evidence/carried-statement.ts';
import {
  CODES,
  COMPILATION_SOURCES,
  COMPILATIONS,
  CONTRACTS,
  SOURCES,
} from '../evidence/evidence-rows.ts';
import { type EvidenceRows, findStoredCompilations } from '../evidence/evidence.ts';
import { commitMatches, type SavedMatch } from '../matches/save-matches.ts';
import {
  type PackedCompilation,
  type PackedContent,
  type PackedContract,
  type PackedContracts,
} from './packed-contracts.ts';

const FIND_SOURCES = sql(
  'find stored sources by hash',
  `SELECT encode(source_hash, 'hex') AS hash FROM sources WHERE source_hash = ANY ($1::bytea[])`,
);
const FIND_CODES = sql(
  'find stored codes by hash',
  `SELECT encode(code_hash, 'hex') AS hash FROM code WHERE code_hash = ANY ($1::bytea[])`,
);

const LARGE = new Set(['bytea', 'jsonb', 'text']);
/** Statements that create a staging table. Text and bytecode are compressed where they are stored, not here. */
const tableOf = <Item>({ name, columns }: Relation<Item>, more = ''): readonly string[] => {
  const table = `staged_${name}`;
  const all = Object.entries(columns);
  const types = all.map(([each, [type]]) => `${each} ${stagedType(type)}`);
  const plain = all.flatMap(([each, [type]]) =>
    LARGE.has(type) ? [`ALTER ${each} SET STORAGE EXTERNAL`] : [],
  );
  return [
    `CREATE TEMP TABLE ${table} (${more}${types.join(', ')})`,
    `ALTER TABLE ${table} ${plain.join(', ')}`,
  ];
};
/** Create the staging tables, which only this connection sees. */
export const STAGE_TABLES: readonly string[] = [
  ...tableOf(CONTRACTS, 'number integer, '),
  ...tableOf(COMPILATIONS),
  ...tableOf(COMPILATION_SOURCES),
  ...tableOf(SOURCES),
  ...tableOf(CODES),
];
const RELATIONS = {
  contracts: 'staged_contracts',
  compilations: 'staged_compilations',
  compilationSources: 'staged_compilation_sources',
  sources: 'staged_sources',
  codes: 'staged_codes',
} as const;
const EMPTY = sql('staged: empty the stage', `TRUNCATE ${Object.values(RELATIONS).join(', ')}`);
const copyInto = (table: string): Statement =>
  sql(`copy into ${table}`, `COPY ${table} FROM STDIN (FORMAT binary)`);

// Twice the bytes of a batch, so that staged pages are not written to disk.
const HOLD_BATCH = sql('staged: hold a batch in memory', `SET temp_buffers = '64MB'`);

class StagedRows implements EvidenceRows {
  readonly #transaction: Queryable;

  constructor(transaction: Queryable) {
    this.#transaction = transaction;
  }

  run<Row extends object, Item>(
    { staged }: CarriedStatement<Item>,
    keys: readonly number[] | readonly string[],
  ): Promise<Row[]> {
    return this.#transaction.query<Row>(staged, [keys]);
  }
}

/** The distinct rows of several packs. */
class Distinct<Item> {
  readonly #found = new Map<string, readonly [Item, Uint8Array]>();

  add(key: string, item: Item, { bytes }: PackedContracts): void {
    if (!this.#found.has(key)) this.#found.set(key, [item, bytes]);
  }

  get keys(): string[] {
    return [...this.#found.keys()];
  }

  without(stored: ReadonlySet<string>): (readonly [Item, Uint8Array])[] {
    return [...this.#found].flatMap(([key, found]) => (stored.has(key) ? [] : [found]));
  }
}

/** Staging tables on a dedicated connection, from which contracts are stored. */
export class ContractStage {
  readonly #session: Session;

  private constructor(session: Session) {
    this.#session = session;
  }

  static async open(session: Session): Promise<ContractStage> {
    // A pooler may return a connection whose temporary buffers are in use; their size then cannot change.
    await session.query(HOLD_BATCH).catch(() => undefined);
    for (const [index, text] of STAGE_TABLES.entries()) {
      await session.query(sql(`staged: make a table of ${index}`, text));
    }
    return new ContractStage(session);
  }

  /**
   * Stages the rows of contracts and discards what was staged before. Contents and compilations that are
   * already stored are not sent.
   */
  async fill(packs: readonly PackedContracts[]): Promise<void> {
    const session = this.#session;
    await session.query(EMPTY);
    const compilations = new Distinct<PackedCompilation>();
    const sources = new Distinct<PackedContent>();
    const codes = new Distinct<PackedContent>();
    for (const pack of packs) {
      for (const compilation of pack.compilations) {
        compilations.add(compilation.id, compilation, pack);
      }
      for (const source of pack.sources) sources.add(source.hash, source, pack);
      for (const code of pack.codes) codes.add(code.hash, code, pack);
    }
    const known = await findStoredCompilations(session, compilations.keys);
    const missing = compilations.without(known);
    const needed = new Set(missing.flatMap(([{ sourceHashes }]) => sourceHashes));
    const unneeded = sources.keys.filter((hash) => !needed.has(hash));
    const storedSources = new Set([...unneeded, ...(await this.#find(FIND_SOURCES, [...needed]))]);
    const storedCodes = new Set(await this.#find(FIND_CODES, codes.keys));
    const spanOf = ([{ row }, bytes]: readonly [PackedContent, Uint8Array]): Uint8Array =>
      bytes.subarray(...row);
    await this.#copy(
      COPY_CONTRACTS,
      packs.flatMap(({ contracts, bytes }) => contracts.map(({ row }) => bytes.subarray(...row))),
    );
    await this.#copy(
      COPY_COMPILATIONS,
      missing.map(([{ row }, bytes]) => bytes.subarray(...row)),
    );
    await this.#copy(
      COPY_COMPILATION_SOURCES,
      missing.map(([{ sources: span }, bytes]) => bytes.subarray(...span)),
    );
    await this.#copy(COPY_SOURCES, sources.without(storedSources).map(spanOf));
    await this.#copy(COPY_CODES, codes.without(storedCodes).map(spanOf));
  }

  /**
   * Stores staged contracts in one transaction by the rules of saveMatches, with the same tables, events and
   * counts.
   * @param isRehearsal whether to roll the transaction back
   * @returns the outcome of each, in the given order
   * @throws FullmatchError as saveMatches; the staged rows are kept
   */
  async save(
    contracts: readonly PackedContract[],
    isRehearsal = false,
  ): Promise<readonly SavedMatch[]> {
    const rowsOf = (transaction: Queryable): EvidenceRows => new StagedRows(transaction);
    return commitMatches(this.#session, contracts, rowsOf, { isRehearsal });
  }

  async #find(statement: Statement, hashes: readonly string[]): Promise<readonly string[]> {
    if (hashes.length === 0) return [];
    const values = [hashes.map((hash) => Buffer.from(hash, 'hex'))];
    const rows = await this.#session.query<{ hash: string }>(statement, values);
    return rows.map(({ hash }) => hash);
  }

  async #copy(statement: Statement, rows: readonly Uint8Array[]): Promise<void> {
    const filled = rows.filter(({ length }) => length > 0);
    if (filled.length === 0) return;
    await this.#session.copyIn(statement, [COPY_BEGIN, ...filled, COPY_END]);
  }
}

const COPY_CONTRACTS = copyInto(RELATIONS.contracts);
const COPY_COMPILATIONS = copyInto(RELATIONS.compilations);
const COPY_COMPILATION_SOURCES = copyInto(RELATIONS.compilationSources);
const COPY_SOURCES = copyInto(RELATIONS.sources);
const COPY_CODES = copyInto(RELATIONS.codes);
