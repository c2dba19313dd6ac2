import { compareConfigs } from '../config/compare-configs.ts';
import { type LoadedConfig } from '../config/config.ts';
import { ERROR_CODES, FullmatchError, messageOf, type ErrorCode } from '../errors.ts';
import { type NamedSecret } from '../lib/secret.ts';
import { type Logger } from '../log.ts';

/** Result of a reload. */
export interface ReloadOutcome {
  /** False: the new configuration was rejected, and the previous one stays in effect. */
  readonly taken: boolean;
  /** Keys whose new values took effect. */
  readonly changed: readonly string[];
  /** Keys that differ from the values at the start and need a restart. */
  readonly restart: readonly string[];
  /** Why it was rejected. */
  readonly code?: ErrorCode;
  readonly reason?: string;
}

/** Configuration section of the health report. */
export interface ConfigurationState {
  /** When the current configuration was read. */
  readonly loadedAt: Date;
  /** Time since which a newer one has been rejected. `detail` is safe to publish. */
  readonly refusal?: { readonly since: Date; readonly detail: string };
}

/** Dependencies of a reload. */
export interface ReloadDependencies {
  /** The configuration at the start. */
  readonly started: LoadedConfig;
  /**
   * Reads the configuration from its sources again.
   * @throws FullmatchError as loadConfig does
   */
  readonly load: () => LoadedConfig;
  /** Applies what can change, or throws and leaves everything unchanged. */
  readonly apply: (next: LoadedConfig) => Promise<void>;
  readonly now?: () => Date;
}

/** Maximum number of keys in a public detail. */
const MAX_PLACES = 3;

/** Reloads the configuration on request: a valid one is applied, an invalid one changes nothing. */
export class Reloader {
  readonly #parts: ReloadDependencies;
  readonly #log: Logger;
  readonly #now: () => Date;
  #inForce: LoadedConfig;
  /** Secrets of every configuration so far: a former secret must not be published later. */
  #secrets: readonly NamedSecret[];
  #state: ConfigurationState;
  #last: Promise<unknown> = Promise.resolve();
  #next: Promise<ReloadOutcome> | undefined;

  constructor(parts: ReloadDependencies, log: Logger) {
    this.#parts = parts;
    this.#log = log;
    this.#now = parts.now ?? (() => new Date());
    this.#inForce = parts.started;
    this.#secrets = parts.started.secrets;
    this.#state = { loadedAt: this.#now() };
  }

  get state(): ConfigurationState {
    return this.#state;
  }

  /**
   * Reads and applies the configuration. Never rejects. Calls during a reload share the next one, which reads
   * the files after all of these calls.
   */
  reload(): Promise<ReloadOutcome> {
    if (this.#next === undefined) {
      this.#next = this.#last.then(() => {
        this.#next = undefined;
        return this.#run();
      });
      this.#last = this.#next;
    }
    return this.#next;
  }

  async #run(): Promise<ReloadOutcome> {
    let restart: readonly string[] = [];
    try {
      const next = this.#parts.load();
      restart = compareConfigs(this.#parts.started, next).restart;
      const changed = compareConfigs(this.#inForce, next).live;
      const secrets = joinSecrets(next.secrets, this.#secrets);
      await this.#parts.apply({ ...next, secrets });
      this.#inForce = next;
      this.#secrets = secrets;
      this.#state = { loadedAt: this.#now() };
      const waits = restart.length > 0 ? { restart_needed: restart } : {};
      this.#log.info(
        { event: 'configuration_reloaded', changed, ...waits },
        'the configuration was read again',
      );
      return { taken: true, changed, restart };
    } catch (error) {
      return this.#refuse(error, restart);
    }
  }

  #refuse(error: unknown, restart: readonly string[]): ReloadOutcome {
    const since = this.#state.refusal?.since ?? this.#now();
    const { loadedAt } = this.#state;
    const isKnown = error instanceof FullmatchError;
    const code = isKnown ? error.code : 'internal_error';
    const reason = messageOf(error);
    this.#state = { loadedAt, refusal: { since, detail: describePublicly(error) } };
    this.#log.error(
      { event: 'configuration_refused', code, error: reason, ...(!isKnown && { err: error }) },
      'the new configuration was rejected; the previous one is still used',
    );
    return { taken: false, changed: [], restart, code, reason };
  }
}

/** Secrets of the configuration, and those that only earlier ones had. */
function joinSecrets(
  current: readonly NamedSecret[],
  earlier: readonly NamedSecret[],
): readonly NamedSecret[] {
  const known = new Set(current.map(({ secret }) => secret.reveal()));
  const old = earlier.filter(({ secret }) => !known.has(secret.reveal()));
  const suffix = ' (of an earlier configuration)';
  const marked = old.map(({ name, secret }) => ({
    name: name.endsWith(suffix) ? name : `${name}${suffix}`,
    secret,
  }));
  return [...current, ...marked];
}

/**
 * Describes an invalid configuration for everyone: the kind of fault and the keys. The messages are only
 * logged, since they may quote what an operator typed by mistake.
 */
function describePublicly(error: unknown): string {
  if (!(error instanceof FullmatchError)) return ERROR_CODES.internal_error.title;
  const { title } = ERROR_CODES[error.code];
  const problems: unknown = error.details['problems'];
  if (!Array.isArray(problems)) return title;
  const places = problems.map(({ where }: { where: string }) => where.replace(/^.*[/\\]/, ''));
  const more = places.length > MAX_PLACES ? `, and ${places.length - MAX_PLACES} more` : '';
  return `${title} at ${places.slice(0, MAX_PLACES).join(', ')}${more}`;
}
