/** A body that is kept, with its compressed form once somebody asked for it. */
export interface CachedBody {
  readonly tag: string;
  readonly identity: Buffer<ArrayBuffer>;
  gzip?: Buffer<ArrayBuffer>;
}

/** Keeps bodies within a number of bytes; those that nobody asked for the longest go first. */
export class BodyCache {
  readonly #limitBytes: number;
  /** In the order in which they were last asked for. */
  readonly #bodies = new Map<string, CachedBody>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How often a body was asked for that was kept, and that was not. */
  get lookUps(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }

  get(key: string): CachedBody | undefined {
    const body = this.#bodies.get(key);
    if (body === undefined) {
      this.#misses += 1;
      return undefined;
    }
    this.#hits += 1;
    this.#bodies.delete(key);
    this.#bodies.set(key, body);
    return body;
  }

  /** Keeps a body, or counts it anew when it has grown. One that would take half of the room is not kept. */
  set(key: string, body: CachedBody): void {
    this.#drop(key);
    const size = sizeOf(body);
    if (2 * size > this.#limitBytes) return;
    this.#bodies.set(key, body);
    this.#sizes.set(key, size);
    this.#bytes += size;
    for (const oldest of this.#bodies.keys()) {
      if (this.#bytes <= this.#limitBytes) return;
      this.#drop(oldest);
    }
  }

  readonly #sizes = new Map<string, number>();

  #drop(key: string): void {
    this.#bytes -= this.#sizes.get(key) ?? 0;
    this.#sizes.delete(key);
    this.#bodies.delete(key);
  }
}

/** A few hundred bytes are the entry itself. */
const ENTRY_BYTES = 400;

function sizeOf({ identity, gzip }: CachedBody): number {
  return ENTRY_BYTES + identity.byteLength + (gzip?.byteLength ?? 0);
}
