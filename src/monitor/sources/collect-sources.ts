import { isUtf8 } from 'node:buffer';
import { type Hex } from '../../lib/hex.ts';
import { printableText } from '../../lib/printable-text.ts';
import { isStorableText } from '../../lib/storable-text.ts';
import { type StoredSources } from '../../repository/repository.ts';
import { ContentFault } from './content-fault.ts';
import { Attempts } from './gateways/attempts.ts';
import { type SwarmContents } from './gateways/swarm-contents.ts';
import { keyOfCid } from './ipfs/cid.ts';
import { type IpfsFiles } from './ipfs/read-file.ts';
import { type HashedSource } from './metadata-document.ts';
import { type SourceLimits } from './source-limits.ts';
import { type ContentAddress, readSourceUrl } from './source-url.ts';
import { hashContent } from './cooperative-hash.ts';
import { type EventLoopYielder } from '../../lib/event-loop-yielder.ts';

/** Looks up stored sources by keccak256. Reads their texts only if they have at most `maxBytes` in total. */
export type FindStoredSources = (
  hashes: readonly Hex[],
  maxBytes: number,
) => Promise<StoredSources>;

/** Dependencies for collecting the sources of one contract. */
export interface CollectorDependencies {
  readonly ipfs: IpfsFiles;
  readonly swarm: SwarmContents;
  /** Storage of the metadata: it probably has the sources too, so it is tried first. */
  readonly storage: ContentAddress['storage'];
  readonly findStored: FindStoredSources;
  readonly limits: SourceLimits;
  readonly pauses: EventLoopYielder;
  /** Aborts requests in progress: once one source is unavailable, the others are useless. */
  readonly stop: () => void;
}

/** Wanted content, shared by all sources with its hash. */
interface WantedContent {
  readonly hash: Hex;
  readonly paths: string[];
  readonly urls: Set<string>;
}

const PATH_SHOWN_CHARACTERS = 120;

function groupByHash(sources: readonly HashedSource[]): Map<Hex, WantedContent> {
  const wanted = new Map<Hex, WantedContent>();
  for (const { path, keccak256: hash, urls = [] } of sources) {
    const content = wanted.get(hash) ?? { hash, paths: [], urls: new Set() };
    content.paths.push(path);
    for (const url of urls) content.urls.add(url);
    wanted.set(hash, content);
  }
  return wanted;
}

class SourceCollector {
  readonly #parts: CollectorDependencies;
  readonly #wanted: ReadonlyMap<Hex, WantedContent>;
  readonly #contents = new Map<Hex, string>();
  #bytes = 0;

  constructor(parts: CollectorDependencies, sources: readonly HashedSource[]) {
    this.#parts = parts;
    this.#wanted = groupByHash(sources);
  }

  get contents(): ReadonlyMap<Hex, string> {
    return this.#contents;
  }

  /**
   * Stores a text that matches the hash. A text under several paths counts several times, as it is compiled
   * and shown that often.
   */
  keep(hash: Hex, text: string): void {
    if (this.#contents.has(hash)) return;
    this.#bytes += Buffer.byteLength(text) * (this.#wanted.get(hash)?.paths.length ?? 1);
    if (this.#bytes > this.#parts.limits.sourceBytes) throw tooLarge(this.#parts.limits);
    this.#contents.set(hash, text);
  }

  #missing(): WantedContent[] {
    return [...this.#wanted.values()].filter(({ hash }) => !this.#contents.has(hash));
  }

  async findStored(): Promise<void> {
    const { findStored, limits } = this.#parts;
    const hashes = this.#missing().map(({ hash }) => hash);
    if (hashes.length === 0) return;
    const { bytes, contents } = await findStored(hashes, limits.sourceBytes);
    if (bytes > limits.sourceBytes) throw tooLarge(limits);
    for (const [hash, text] of contents) this.keep(hash, text);
  }

  /** Fetches the missing sources, several at once. The first one that is unavailable ends all. */
  async fetchMissing(): Promise<void> {
    const missing = this.#missing();
    let fault: { readonly error: unknown } | undefined;
    const work = async (): Promise<void> => {
      for (let next = missing.shift(); next !== undefined; next = missing.shift()) {
        try {
          this.keep(next.hash, await this.#fetch(next));
        } catch (error) {
          fault ??= { error };
          missing.length = 0;
          this.#parts.stop();
        }
      }
    };
    await Promise.all(Array.from({ length: this.#parts.limits.concurrency }, work));
    if (fault !== undefined) throw fault.error;
  }

  async #fetch({ hash, paths, urls }: WantedContent): Promise<string> {
    const name = `The source "${printableText(paths[0] ?? '', PATH_SHOWN_CHARACTERS)}"`;
    const places = this.#placesOf(urls);
    const attempts = new Attempts();
    let tooLargePlaces = 0;
    for (const place of places) {
      try {
        const text = toText(await this.#read(place, hash));
        if (text !== undefined) return text;
        attempts.add('It is not text in UTF-8.');
      } catch (error) {
        if (!(error instanceof ContentFault)) throw error;
        if (error.kind === 'too_large') tooLargePlaces += 1;
        attempts.add(error.message);
      }
    }
    if (places.length === 0) throw attempts.toFault(`${name} has no URL of IPFS or Swarm.`);
    const fault = attempts.toFault(`${name} was not found.`);
    throw tooLargePlaces === places.length ? new ContentFault('too_large', fault.message) : fault;
  }

  #placesOf(urls: ReadonlySet<string>): ContentAddress[] {
    const { storage, limits } = this.#parts;
    const places = [...urls].slice(0, limits.urls).map(readSourceUrl);
    // Several URLs may name the same content.
    const distinct = new Map(places.map((place) => [place && keyOf(place), place]));
    const known = [...distinct.values()].filter((place) => place !== undefined);
    const isNear = (place: ContentAddress): boolean => place.storage === storage;
    return [...known.filter(isNear), ...known.filter((place) => !isNear(place))];
  }

  async #read(place: ContentAddress, hash: Hex): Promise<Buffer> {
    const { ipfs, swarm, limits, pauses } = this.#parts;
    const isContent = async (bytes: Buffer): Promise<boolean> =>
      (await hashContent(bytes, pauses)) === hash;
    if (place.storage === 'swarm') {
      const maxBytes = limits.sourceBytes;
      const question = { hash: place.hash, maxBytes, isContent, isChecked: false };
      return (await swarm.get(question)).bytes;
    }
    const bytes = await ipfs.read(place.cid, limits.sourceBytes);
    if (await isContent(bytes)) return bytes;
    throw new ContentFault('malformed', `${place.cid.text} is another text.`);
  }
}

function keyOf(place: ContentAddress): string {
  return place.storage === 'ipfs' ? keyOfCid(place.cid) : place.hash;
}

function tooLarge({ sourceBytes }: SourceLimits): ContentFault {
  return new ContentFault('too_large', `The sources have more than ${sourceBytes} bytes.`);
}

/** Decodes a text; undefined for bytes that cannot be stored as text. */
function toText(bytes: Buffer): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : undefined;
}

/**
 * Collects the texts, by path, of all sources that the metadata only references: from another source embedded
 * in the metadata, from the database, or from their URLs. Each text has the keccak256 listed in the metadata.
 * @throws ContentFault `unavailable`, `too_large`
 */
export async function collectSources(
  sources: readonly HashedSource[],
  parts: CollectorDependencies,
): Promise<Record<string, string>> {
  const collector = new SourceCollector(parts, sources);
  const literals = new Set<HashedSource>();
  for (const source of sources) {
    const { content, keccak256: hash } = source;
    if (
      content === undefined ||
      !isStorableText(content) ||
      content.length > parts.limits.sourceBytes
    ) {
      continue;
    }
    if ((await hashContent(Buffer.from(content), parts.pauses)) !== hash) continue;
    literals.add(source);
    collector.keep(hash, content);
  }
  await collector.findStored();
  await collector.fetchMissing();
  const others = sources.filter((source) => !literals.has(source));
  return Object.fromEntries(
    others.map(({ path, keccak256: hash }) => [path, collector.contents.get(hash) ?? '']),
  );
}
