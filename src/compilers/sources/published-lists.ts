import { messageOf } from '../../errors.ts';
import { type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { type BuildKind, folderOf } from './build-names.ts';
import { type CompilerList, parseCompilerList } from './compiler-list.ts';

const MAX_LIST_BYTES = 16_000_000;
const LIST_DEADLINE_MS = 60_000;
/** New compilers appear every few weeks. */
const LIST_FRESH_MS = 3_600_000;
/** How long a list that could not be had is not asked for again. */
const FAILURE_REST_MS = 15_000;
const RELEASE = /^\d+\.\d+\.\d+\+commit\.[0-9a-f]+$/;

interface Reading {
  readonly at: number;
  readonly value: Promise<CompilerList>;
  isFailed: boolean;
}

/** The lists that a mirror publishes beside its binaries, one for each kind of builds, asked for when they are needed. */
export class PublishedLists {
  readonly #base: string;
  readonly #fetch: Pick<GuardedFetch, 'fetch'>;
  readonly #now: () => number;
  readonly #readings = new Map<BuildKind, Reading>();
  #releases: readonly string[] = [];

  constructor(base: string, fetch: Pick<GuardedFetch, 'fetch'>, now: () => number) {
    this.#base = base;
    this.#fetch = fetch;
    this.#now = now;
  }

  /** The releases of the soljson list as it was read last; empty before. */
  get releases(): readonly string[] {
    return this.#releases;
  }

  /** The list of a kind of builds. @throws when it cannot be had. */
  read(kind: BuildKind): Promise<CompilerList> {
    const known = this.#readings.get(kind);
    const freshMs = known?.isFailed === true ? FAILURE_REST_MS : LIST_FRESH_MS;
    if (known !== undefined && this.#now() - known.at < freshMs) return known.value;
    const reading: Reading = { at: this.#now(), value: this.#request(kind), isFailed: false };
    this.#readings.set(kind, reading);
    reading.value.then(
      ({ soljsonByVersion }) => {
        if (kind !== 'soljson') return;
        this.#releases = [...soljsonByVersion.keys()].filter((version) => RELEASE.test(version));
      },
      () => {
        reading.isFailed = true;
      },
    );
    return reading.value;
  }

  async #request(kind: BuildKind): Promise<CompilerList> {
    const url = `${this.#base}/${folderOf(kind)}/list.json`;
    const { status, body } = await this.#fetch.fetch(url, {
      maxBytes: MAX_LIST_BYTES,
      deadlineMs: LIST_DEADLINE_MS,
    });
    if (status !== 200) throw new Error(`${url} answers ${status}`);
    try {
      return parseCompilerList(body);
    } catch (error) {
      throw new Error(`${url} is unreadable: ${messageOf(error)}`, { cause: error });
    }
  }
}
