import pg from 'pg';
import { sql, type Database, type Queryable, type Statement } from '../../src/store/database.ts';

/** A node of an executed plan, as PostgreSQL reports it. */
interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
}

/** Cost of statements. */
interface StatementCost {
  /** Pages of tables and indexes that were read, including cached ones. */
  readonly buffers: number;
  /** The most rows that one plan node visited, including filtered ones. */
  readonly rows: number;
  /** Tables that were scanned sequentially. */
  readonly scanned: readonly string[];
}

/** Runs `work` on a database and returns the cost of its statements. */
export async function costOf(
  database: Database,
  work: (database: Queryable) => Promise<unknown>,
): Promise<StatementCost> {
  const plans: (readonly Plan[])[] = [];
  await work({
    async query(statement, values) {
      plans.push(await explain(database, statement, values ?? []));
      return database.query(statement, values);
    },
  });
  const steps = plans.flat();
  return {
    // The top node of a plan includes the buffers of all nodes below it.
    buffers: plans.reduce((sum, [first]) => sum + (first ? readBuffers(first) : 0), 0),
    rows: Math.max(...steps.map(visitedRows)),
    scanned: steps.flatMap((step) =>
      step['Node Type'] === 'Seq Scan' ? [step['Relation Name'] ?? ''] : [],
    ),
  };
}

/** Executes a statement with the plan that it uses in the service and returns all nodes, the topmost first. */
export async function explain(
  database: Database,
  { label, text, planning }: Statement,
  values: readonly unknown[],
): Promise<readonly Plan[]> {
  const carriesOut = 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)';
  const [row] = await database.transaction(async (transaction) => {
    // The first execution of a connection also reads catalogs and the root pages of indexes, which it then caches.
    const explainCached = async (
      statement: Statement,
      given: readonly unknown[] = [],
    ): Promise<readonly Explained[]> => {
      await transaction.query<Explained>(statement, given);
      return transaction.query<Explained>(statement, given);
    };
    if (planning !== 'once')
      return explainCached(sql(`explain ${label}`, `${carriesOut} ${text}`), values);
    const literals = values.map(toLiteral).join(', ');
    await transaction.query(sql('keep plans', 'SET LOCAL plan_cache_mode = force_generic_plan'));
    await transaction.query(sql(`prepare ${label}`, `PREPARE explained AS ${text}`));
    const explained = await explainCached(
      sql(`explain ${label} of ${literals}`, `${carriesOut} EXECUTE explained(${literals})`),
    );
    await transaction.query(sql('forget explained', 'DEALLOCATE explained'));
    return explained;
  });
  return row === undefined ? [] : stepsOf(row['QUERY PLAN'][0].Plan);
}

interface Explained {
  readonly 'QUERY PLAN': [{ readonly Plan: Plan }];
}

function toLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`;
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.join(',')}}`);
  return pg.escapeLiteral(typeof value === 'string' ? value : JSON.stringify(value));
}

const stepsOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(stepsOf)];
const readBuffers = (step: Plan): number => step['Shared Hit Blocks'] + step['Shared Read Blocks'];

function visitedRows(step: Plan): number {
  const leftOut =
    (step['Rows Removed by Filter'] ?? 0) + (step['Rows Removed by Index Recheck'] ?? 0);
  return (step['Actual Rows'] + leftOut) * step['Actual Loops'];
}
