import { RateMeter } from './import-progress.ts';

/** Progress of reading the files of an export. */
export interface StagingProgress {
  readonly files: number;
  readonly allFiles: number;
  readonly rows: number;
  /** Rows a second over the last half minute. */
  readonly rowsPerSecond: number;
  /** By the share of the bytes that are read; absent until the rate is known. */
  readonly secondsLeft?: number;
}

/** A file of an export. */
export interface SizedFile {
  readonly path: string;
  readonly bytes: number;
}

/** Measures the staging of files by their rows and bytes. */
export class StagingMeter {
  readonly #allFiles: number;
  readonly #rows = new RateMeter(Date.now());
  readonly #bytes = new RateMeter(Date.now());
  #bytesLeft: number;
  #bytesRead = 0;
  #rowsRead = 0;
  #files = 0;

  constructor(files: readonly SizedFile[]) {
    this.#allFiles = files.length;
    this.#bytesLeft = files.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  addRows({ bytes }: SizedFile, rows: number, share: number): StagingProgress {
    this.#rowsRead += rows;
    this.#bytesRead += bytes * share;
    this.#bytesLeft -= bytes * share;
    return this.#progress();
  }

  endFile({ bytes }: SizedFile, isSkipped: boolean): StagingProgress {
    this.#files += 1;
    if (isSkipped) this.#bytesLeft -= bytes;
    return this.#progress();
  }

  #progress(): StagingProgress {
    const now = Date.now();
    const bytesPerSecond = this.#bytes.perSecond(now, this.#bytesRead);
    return {
      ...{ files: this.#files, allFiles: this.#allFiles, rows: this.#rowsRead },
      rowsPerSecond: this.#rows.perSecond(now, this.#rowsRead),
      ...(bytesPerSecond > 0 && { secondsLeft: Math.max(0, this.#bytesLeft) / bytesPerSecond }),
    };
  }
}
