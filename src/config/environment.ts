/** Environment variables by name. An empty value counts as not set, so that `FULLMATCH_HOST= fullmatch start` clears one. */
export type Environment = Readonly<Record<string, string>>;

/**
 * Returns the environment of the process, without empty values. The only reader of `process.env`: all other
 * code receives this record.
 */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Environment {
  const set = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  return Object.fromEntries(set);
}
