import { type Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';

/** Metadata of a file in an archive. */
interface TarFileOptions {
  readonly mode?: number;
  /** The epoch by default, so that equal files give equal bytes. */
  readonly modifiedAt?: Date;
}

/** Where an archive goes. */
interface TarDestination {
  readonly out: Writable;
  readonly compressor?: Transform;
  /** Ends the archive early. */
  readonly signal?: AbortSignal;
}

/** Writes a tar archive. */
export class TarWriter {
  readonly #archive = pack();
  readonly #written: Promise<void>;

  constructor({ out, compressor, signal }: TarDestination) {
    const options = { ...(signal && { signal }) };
    this.#written =
      compressor === undefined
        ? pipeline(this.#archive, out, options)
        : pipeline(this.#archive, compressor, out, options);
    // The rejection is received by the next call.
    this.#written.catch(() => undefined);
  }

  /**
   * Adds a file and waits until the destination has taken it; files are added one after another.
   * @throws errors of the destination
   */
  async add(
    name: string,
    content: Buffer,
    { mode = 0o644, modifiedAt = new Date(0) }: TarFileOptions = {},
  ): Promise<void> {
    // A failed pipeline destroys the archive.
    if (this.#archive.destroying) await this.#written;
    await new Promise<void>((resolve, reject) => {
      const header = { name, size: content.length, mode, mtime: modifiedAt };
      const entry = this.#archive.entry(header, content, (error) => {
        if (error) reject(error);
        else resolve();
      });
      // Without a listener the error would end the process; the callback receives it too.
      entry.on('error', () => undefined);
    });
  }

  /** Completes the archive. */
  async end(): Promise<void> {
    this.#archive.finalize();
    await this.#written;
  }

  /** Ends the destination without completing the archive. Never rejects. */
  async giveUp(): Promise<void> {
    this.#archive.destroy();
    await this.#written.catch(() => undefined);
  }
}
