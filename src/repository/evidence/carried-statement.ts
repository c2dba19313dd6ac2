import { sql, type Queryable, type Statement } from '../../store/database.ts';

type NumberType = 'bigint' | 'integer';
type EnumerationType = 'match' | 'match_origin' | 'match_trust';
type ColumnType = NumberType | EnumerationType | 'boolean' | 'bytea' | 'jsonb' | 'text' | 'uuid';

/** Stored columns of an item, with their types and values. */
export type Columns<Item> = Readonly<
  Record<string, readonly [type: ColumnType, valueOf: (item: Item) => ColumnValue]>
>;
export type ColumnValue = boolean | number | string | Uint8Array | null;

/** Rows to store: those of a few contracts are passed with the statement, those of many are staged in a table. */
export interface Relation<Item> {
  readonly name: string;
  readonly columns: Columns<Item>;
  /** Condition on staged rows, where `$1` are keys. */
  readonly staged: string;
}

/** One statement for both ways of passing rows, so that the same rules apply to both. */
export interface CarriedStatement<Item> {
  readonly relation: Relation<Item>;
  /** The columns, in parameter order. */
  readonly columns: readonly string[];
  /** Selects the rows to process. */
  readonly takes: (item: Item) => boolean;
  /** Takes an array for each column. */
  readonly given: Statement;
  /** Takes the keys of staged rows. */
  readonly staged: Statement;
}

/** JSON is staged as the text that arrived and parsed when it is stored; numbers are normalised. */
export function stagedType(type: ColumnType): string {
  if (type === 'jsonb') return 'text';
  return type === 'integer' ? 'bigint' : type;
}

/**
 * Builds a statement over columns of a relation.
 * @param text receives the FROM item, whose rows are named `row`
 * @param takes the items to run it for; the text must exclude the other staged rows
 */
export function carriedStatement<Item>(
  label: string,
  relation: Relation<Item>,
  columns: readonly string[],
  text: (rows: string) => string,
  takes: (item: Item) => boolean = () => true,
): CarriedStatement<Item> {
  const typeOf = (name: string): ColumnType => {
    const column = relation.columns[name];
    if (column === undefined) throw new Error(`${relation.name} has no column ${name}`);
    return column[0];
  };
  const names = columns.join(', ');
  const arrays = columns.map((name, index) => `$${index + 1}::${typeOf(name)}[]`);
  const values = columns.map((name) =>
    typeOf(name) === 'jsonb' ? `${name}::jsonb AS ${name}` : name,
  );
  return {
    relation,
    columns,
    takes,
    given: sql(label, text(`unnest(${arrays.join(', ')}) AS row (${names})`)),
    staged: sql(
      `staged: ${label}`,
      text(
        `(SELECT ${values.join(', ')} FROM staged_${relation.name} WHERE ${relation.staged}) AS row`,
      ),
    ),
  };
}

/** Runs a statement with its items; without items nothing runs. */
export async function runWithItems<Row extends object, Item>(
  transaction: Queryable,
  { relation, columns, given, takes }: CarriedStatement<Item>,
  all: readonly Item[],
): Promise<Row[]> {
  const items = all.filter(takes);
  if (items.length === 0) return [];
  const values = columns.map((name) => {
    const valueOf = relation.columns[name]?.[1];
    return items.map((item) => valueOf?.(item));
  });
  return transaction.query<Row>(given, values);
}
