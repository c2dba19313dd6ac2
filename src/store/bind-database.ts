import { type Queryable } from './database.ts';

/** Functions whose first argument, the database, is given. */
export type Bound<Readers> = {
  readonly [Name in keyof Readers]: Readers[Name] extends (
    database: Queryable,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** Gives functions their database, for those who know none. */
export function bindDatabase<
  Readers extends Readonly<Record<string, (database: Queryable, ...rest: never[]) => unknown>>,
>(readers: Readers, database: Queryable): Bound<Readers> {
  const bound = Object.entries(readers).map(([name, read]) => [
    name,
    (...rest: never[]) => read(database, ...rest),
  ]);
  return Object.fromEntries(bound) as Bound<Readers>;
}
