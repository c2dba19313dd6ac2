import pg from 'pg';
import { sql, type Database, type Queryable, type Statement } from '../../src/store/database.ts';

/** A step of a plan that was carried out, as PostgreSQL tells of it. */
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

/** What statements cost. */
interface StatementCost {
  /** Pages of tables and indexes that were read, also those that were in memory. */
  readonly buffers: number;
  /** The most rows that one step of a plan visited, also those that it left out. */
  readonly rows: number;
  /** The tables that were read from their beginning. */
  readonly scanned: readonly string[];
}

/** Lets `work` run on a database, and tells what its statements cost. */
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
    // The first step of a plan has those of all steps below it.
    buffers: plans.reduce((sum, [first]) => sum + (first ? readBuffers(first) : 0), 0),
    rows: Math.max(...steps.map(visitedRows)),
    scanned: steps.flatMap((step) =>
      step['Node Type'] === 'Seq Scan' ? [step['Relation Name'] ?? ''] : [],
    ),
  };
}

/** Carries a statement out by the plan that it runs by in the service, and gives all steps of it, the topmost first. */
export async function explain(
  database: Database,
  { label, text, planning }: Statement,
  values: readonly unknown[],
): Promise<readonly Plan[]> {
  const carriesOut = 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)';
  const [row] = await database.transaction(async (transaction) => {
    if (planning !== 'once')
      return transaction.query<Explained>(sql(`explain ${label}`, `${carriesOut} ${text}`), values);
    const literals = values.map(toLiteral).join(', ');
    await transaction.query(sql('keep plans', 'SET LOCAL plan_cache_mode = force_generic_plan'));
    await transaction.query(sql(`prepare ${label}`, `PREPARE explained AS ${text}`));
    const explained = await transaction.query<Explained>(
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
