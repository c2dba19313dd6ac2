/** Maximum contracts that one statement reads for a page. */
export const MAX_ROWS = 1000;

/**
 * The first rows of an ordered query, limited by a parameter and {@link MAX_ROWS}. PostgreSQL plans an
 * unknown limit as a tenth of the table, so such a plan is never cached; with a constant limit it is.
 */
export function firstRows(query: string, order: string, limit: `$${number}`): string {
  const bounded = `${query} ORDER BY ${order} LIMIT ${MAX_ROWS}`;
  return `SELECT * FROM (${bounded}) AS bounded ORDER BY ${order} LIMIT ${limit}::bigint`;
}
