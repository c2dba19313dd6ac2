import { sql, type Queryable, type Statement } from '../../src/store/database.ts';

/** A step of a plan that was carried out, as PostgreSQL tells of it. */
export interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Plan[];
}

/** Carries a statement out, and gives all steps of its plan. */
export async function explain(
  database: Queryable,
  statement: Statement,
  values: readonly unknown[],
): Promise<Plan[]> {
  const [row] = await database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    sql(`explain ${statement.label}`, `EXPLAIN (ANALYZE, FORMAT JSON) ${statement.text}`),
    values,
  );
  const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)];
  return flatten(row!['QUERY PLAN'][0].Plan);
}
