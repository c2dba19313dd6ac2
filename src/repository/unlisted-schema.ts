/** The schema of PostgreSQL that holds the contracts which only tokens reach: the tables of the others once more. */
export const UNLISTED_SCHEMA = 'unlisted';
