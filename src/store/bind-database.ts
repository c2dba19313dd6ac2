import { type Queryable } from './database.ts';

/** Functions with their first parameter, the database, bound. */
export type Bound<Readers> = {
  readonly [Name in keyof Readers]: Readers[Name] extends (
    database: Queryable,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** Binds functions to a database, for callers that do not know it. */
export function bindDatabase<
  Readers extends Readonly<Record<string, (database: Queryable, ...rest: never[]) => unknown>>,
>(readers: Readers, database: Queryable): Bound<Readers> {
  const bound = Object.entries(readers).map(([name, read]) => [
    name,
    (...rest: never[]) => read(database, ...rest),
  ]);
  return Object.fromEntries(bound) as Bound<Readers>;
}
