import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliDecompress } from 'node:zlib';
import { type Hex } from '../../src/lib/hex.ts';

/** A verified contract of the fixture with the responses of the program that created it. */
export interface FixtureContract {
  /** Purpose of the contract, such as `planted_source`. */
  readonly role: string;
  readonly chainId: number;
  readonly address: Hex;
  /** The bytecode at the address, which is placed on a test node. */
  readonly code: Hex;
  /** API path → response body. */
  readonly answers: Readonly<Record<string, string>>;
  /** Repository path → file text. */
  readonly files: Readonly<Record<string, string>>;
}

/** Content of the fixture, as recorded by its creator. */
export interface FixtureManifest {
  readonly version: string;
  readonly statistics: Readonly<Record<string, { full_match: number; partial_match: number }>>;
  readonly contracts: readonly FixtureContract[];
  /** Jobs by role: `queued`, `failed_large`, `failed_small`, `succeeded`. */
  readonly jobs: Readonly<Record<string, string>>;
}

/** The archive in test/fixtures: the folder `data` for `dataDir`, and `manifest.json`. */
export const UPGRADE_FIXTURE = path.resolve(
  import.meta.dirname,
  '../fixtures/data-directory-0.1.0.tar.br',
);

/** The API paths whose responses about a contract are recorded. */
export function apiPathsOf(chainId: number, address: string): readonly string[] {
  return [
    `/v2/contract/${chainId}/${address}?fields=all`,
    `/v1/contracts/${chainId}/${address}`,
    `/files/any/${chainId}/${address}`,
  ];
}

// A data directory contains an empty database four times: a window that spans all of it stores it once.
const LARGEST_WINDOW = {
  [constants.BROTLI_PARAM_LARGE_WINDOW]: 1,
  [constants.BROTLI_PARAM_LGWIN]: 27,
  [constants.BROTLI_PARAM_QUALITY]: 11,
};
const MAX_TAR_BYTES = 512 * 1024 * 1024;

/** Packs a folder: a tar without owners and times, compressed with brotli. */
export async function packFixture(folder: string): Promise<Buffer> {
  const { stdout } = await promisify(execFile)(
    'tar',
    [
      ...['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0'],
      ...['-cf', '-', '-C', folder, '.'],
    ],
    { encoding: 'buffer', maxBuffer: MAX_TAR_BYTES },
  );
  return promisify(brotliCompress)(stdout, {
    params: { ...LARGEST_WINDOW, [constants.BROTLI_PARAM_SIZE_HINT]: stdout.length },
  });
}

/** Unpacks the fixture into a folder, owned by the current user. */
export async function unpackFixture(folder: string): Promise<FixtureManifest> {
  const tar = spawn('tar', ['-xf', '-', '--no-same-owner', '-C', folder], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = once(tar, 'close');
  const written = pipeline(
    createReadStream(UPGRADE_FIXTURE),
    createBrotliDecompress({ params: { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 } }),
    tar.stdin,
  );
  // The archive ends before its padding: tar may have exited by then.
  const fault: unknown = await written.catch((error: unknown) => error);
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`tar ended with ${code}`, { cause: fault });
  return JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8')) as FixtureManifest;
}
