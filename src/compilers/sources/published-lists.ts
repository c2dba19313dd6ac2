import { messageOf } from '../../errors.ts';
import { type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { type BuildKind, type BuildNames } from '../toolchains/toolchain.ts';
import { type CompilerList, EMPTY_LIST, LIST_NAME, parseCompilerList } from './compiler-list.ts';

const MAX_LIST_BYTES = 16_000_000;
const LIST_DEADLINE_MS = 60_000;
/** New compilers appear every few weeks. */
const LIST_FRESH_MS = 3_600_000;
/** How long a list that could not be downloaded is not requested again. */
const FAILURE_REST_MS = 15_000;
const RELEASE = /^\d+\.\d+\.\d+\+commit\.[0-9a-f]+$/;

interface Reading {
  readonly at: number;
  readonly value: Promise<CompilerList>;
  isFailed: boolean;
}

/** The lists that a mirror publishes with its binaries, one per kind of build, downloaded on demand. */
export class PublishedLists {
  readonly #base: string;
  readonly #names: BuildNames;
  readonly #fetch: Pick<GuardedFetch, 'fetch'>;
  readonly #now: () => number;
  readonly #signal: AbortSignal | undefined;
  readonly #readings = new Map<BuildKind, Reading>();
  #releases: readonly string[] = [];

  constructor(
    base: string,
    names: BuildNames,
    fetch: Pick<GuardedFetch, 'fetch'>,
    now: () => number,
    signal?: AbortSignal,
  ) {
    this.#base = base;
    this.#names = names;
    this.#fetch = fetch;
    this.#now = now;
    this.#signal = signal;
  }

  /** The releases in the soljson list when last read; empty before. */
  get releases(): readonly string[] {
    return this.#releases;
  }

  /**
   * Returns the versions in the soljson list, including prereleases.
   * @throws if it is not available.
   */
  async readVersions(): Promise<readonly string[]> {
    return this.#versionsOf(await this.read('soljson'));
  }

  #versionsOf({ byFileName }: CompilerList): readonly string[] {
    const versions = [...byFileName.values()]
      .filter(
        ({ fileName, longVersion }) => fileName === this.#names.fileNameOf(longVersion, 'soljson'),
      )
      .map(({ longVersion }) => longVersion);
    return [...new Set(versions)];
  }

  /**
   * Returns the list of a kind of build; empty if none is published.
   * @throws if it is not available.
   */
  read(kind: BuildKind): Promise<CompilerList> {
    const known = this.#readings.get(kind);
    const freshMs = known?.isFailed === true ? FAILURE_REST_MS : LIST_FRESH_MS;
    if (known !== undefined && this.#now() - known.at < freshMs) return known.value;
    const reading: Reading = { at: this.#now(), value: this.#request(kind), isFailed: false };
    this.#readings.set(kind, reading);
    reading.value.then(
      (list) => {
        if (kind !== 'soljson') return;
        this.#releases = this.#versionsOf(list).filter((version) => RELEASE.test(version));
      },
      () => {
        reading.isFailed = true;
      },
    );
    return reading.value;
  }

  async #request(kind: BuildKind): Promise<CompilerList> {
    const folder = this.#names.listFolders?.[kind];
    if (folder === undefined) return EMPTY_LIST;
    const url = `${this.#base}/${folder}/${LIST_NAME}`;
    const { status, body } = await this.#fetch.fetch(url, {
      maxBytes: MAX_LIST_BYTES,
      deadlineMs: LIST_DEADLINE_MS,
      ...(this.#signal !== undefined && { signal: this.#signal }),
    });
    if (status !== 200) throw new Error(`${url} answers ${status}`);
    try {
      return parseCompilerList(body);
    } catch (error) {
      throw new Error(`${url} is unreadable: ${messageOf(error)}`, { cause: error });
    }
  }
}
