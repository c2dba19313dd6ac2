/** PostgreSQL schema of unlisted contracts: a second set of the same tables. */
export const UNLISTED_SCHEMA = 'unlisted';
