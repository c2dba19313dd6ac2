import { type Client, type Connection, type FieldDef, type Submittable } from 'pg';
import { type Kind } from './declared-queries.ts';

/** PostgreSQL's description of a statement that was not executed. */
export interface StatementShape {
  /** OIDs of the parameter types. */
  readonly parameters: readonly number[];
  /** Column → OID of its type. */
  readonly columns: ReadonlyMap<string, number>;
}

/** Has the server parse and plan a statement, and returns the types of its parameters and columns. */
export function describeStatement(client: Client, text: string): Promise<StatementShape> {
  return new Promise((resolve, reject) => {
    let parameters: readonly number[] = [];
    let columns: ReadonlyMap<string, number> = new Map();
    const request = {
      submit(connection: Connection): void {
        const wire = connection;
        wire.once('parameterDescription', ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
          parameters = dataTypeIDs;
        });
        wire.parse({ name: '', text, types: [] }, true);
        wire.describe({ type: 'S', name: '' }, true);
        wire.sync();
      },
      handleRowDescription({ fields }: { fields: FieldDef[] }): void {
        columns = new Map(fields.map(({ name, dataTypeID }) => [name, dataTypeID]));
      },
      // After an error the driver reports nothing more about a statement.
      handleError: reject,
      handleReadyForQuery(): void {
        resolve({ parameters, columns });
      },
    };
    client.query(request as unknown as Submittable);
  });
}

const BASIC: ReadonlyMap<number, Kind> = new Map([
  [16, 'boolean'],
  [17, 'bytes'],
  [20, 'string'],
  [21, 'number'],
  [23, 'number'],
  [26, 'number'],
  [700, 'number'],
  [701, 'number'],
  [1082, 'date'],
  [1114, 'date'],
  [1184, 'date'],
]);
const JSON_OIDS: ReadonlySet<number> = new Set([114, 3802]);

/** JavaScript type of a column's value: integers above 32 bits, numerics and unknown types are strings. */
export function kindOfColumn(oid: number, arrays: ReadonlySet<number>): Kind {
  if (JSON_OIDS.has(oid)) return 'any';
  return arrays.has(oid) ? 'array' : (BASIC.get(oid) ?? 'string');
}

/** JavaScript types that the driver can send for a parameter. */
export function kindsOfParameter(oid: number, arrays: ReadonlySet<number>): ReadonlySet<Kind> {
  const kind = kindOfColumn(oid, arrays);
  if (kind === 'any') return new Set(['any', 'string', 'object']);
  const isNumeric = oid === 20 || oid === 1700;
  return new Set<Kind>([
    kind,
    ...(isNumeric ? (['number'] as const) : []),
    ...(kind === 'date' ? (['string'] as const) : []),
  ]);
}
