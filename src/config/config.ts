import { type NamedSecret } from '../lib/secret.ts';
import { type Config } from './schema.ts';

export { type Config } from './schema.ts';

/** The configuration and where it came from. */
export interface LoadedConfig {
  readonly config: Config;
  /**
   * Dotted key → `default`, the file's name, `environment FULLMATCH_HOST` or `flag --host`.
   * A configured chain has the key `chains.<chainId>`.
   */
  readonly origins: ReadonlyMap<string, string>;
  /** Everything that must not appear in any output. */
  readonly secrets: readonly NamedSecret[];
  /** The configuration file that was read, as it is shown to the operator. */
  readonly file?: string;
}
