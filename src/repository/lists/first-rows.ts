/** The most contracts that one statement looks at for a page. */
export const MOST_ROWS = 1000;

/**
 * The first rows of a query in an order, as many as a parameter says and at most {@link MOST_ROWS}. PostgreSQL plans a
 * limit that it does not know for a tenth of the table, so such a plan is never kept; here it knows one.
 */
export function firstRows(query: string, order: string, limit: `$${number}`): string {
  const bounded = `${query} ORDER BY ${order} LIMIT ${MOST_ROWS}`;
  return `SELECT * FROM (${bounded}) AS bounded ORDER BY ${order} LIMIT ${limit}::bigint`;
}
