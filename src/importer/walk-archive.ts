import { type ReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Duplex, PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { readTar, type TarEntry } from '../lib/read-tar.ts';
import { messageOf } from '../errors.ts';
import { ArchivedContract, type ArchivedPlace } from './archived-contract.ts';
import { decompressZstd, ZSTD_MAGIC } from './decompress-zstd.ts';
import { type ImportLimits } from './import-limits.ts';
import { Refusal } from './refusal.ts';
import { MATCH_FOLDERS, type TreeEntry } from './repository-tree.ts';
import { unusableSource } from './unusable-source.ts';

const GZIP_MAGIC = 0x8b1f;
const READ_BYTES = 1024 * 1024;

/**
 * Walks an archive of a tree from start to end: tar, or tar compressed with gzip or zstd, detected by
 * content. The tree may be nested in folders. The files of a contract are adjacent, as tar writes them, and
 * held in memory until the contract is read; nothing is extracted to disk, so no name in the archive becomes
 * a path.
 * @param onRead receives the share of the file that was read, from 0 to 1
 * @throws FullmatchError `import_path_unusable` if it is not an archive, is damaged or truncated, or contains
 * no tree
 */
export async function* walkArchive(
  path: string,
  limits: ImportLimits,
  onRead: (share: number) => void,
): AsyncGenerator<TreeEntry, void, undefined> {
  const archive = readTar();
  const { file, size, decoder } = await openArchive(path);
  const input = pipeline(file, decoder, archive);
  // The end of the walk receives the rejection.
  input.catch(() => undefined);
  let contract: ArchivedContract | undefined;
  let isTree = false;
  try {
    for await (const entry of archive as AsyncIterable<TarEntry>) {
      onRead(file.bytesRead / size);
      const place = placeOf(entry.header.name);
      if (contract !== undefined && (!isPlace(place) || place.path !== contract.path)) {
        yield contract.asTreeEntry();
        contract = undefined;
      }
      if (isPlace(place)) {
        isTree = true;
        contract ??= new ArchivedContract(place, limits);
        await contract.take(place.below, entry);
        continue;
      }
      entry.resume();
      if (place === 'climbs') yield refused(entry.header.name, 'path_outside_tree');
      else if (['link', 'symlink'].includes(entry.header.type))
        yield refused(entry.header.name, 'symlink');
      else if (entry.header.type !== 'directory') yield { kind: 'foreign' };
    }
    await input;
  } catch (error) {
    archive.destroy();
    const cause: unknown = await input.then(
      () => error,
      (fault: unknown) => fault,
    );
    throw unusableSource(path, `it is no complete tar archive: ${messageOf(cause)}`, cause);
  } finally {
    archive.destroy();
    file.destroy();
  }
  if (contract !== undefined) yield contract.asTreeEntry();
  if (!isTree) throw unusableSource(path, 'it has neither full_match nor partial_match');
}

const refused = (name: string, reason: 'path_outside_tree' | 'symlink'): TreeEntry => ({
  kind: 'refused',
  path: name,
  refusal: new Refusal(reason, name),
});

/** Resolves a name to its position in the tree; `outside` of every contract folder, or `climbs` out of its own. */
function placeOf(name: string): ArchivedPlace | 'outside' | 'climbs' {
  const names = name.split('/').filter((part) => part !== '' && part !== '.');
  if (name.startsWith('/') || names.includes('..')) return 'climbs';
  const at = names.findIndex((part) => MATCH_FOLDERS.some((folder) => folder.name === part));
  const [folder = '', chain, address, ...below] = names.slice(at);
  const match = MATCH_FOLDERS.find((each) => each.name === folder)?.match;
  if (match === undefined || chain === undefined || address === undefined) return 'outside';
  return { match, chain, address, path: `${folder}/${chain}/${address}`, below };
}

const isPlace = (place: ReturnType<typeof placeOf>): place is ArchivedPlace =>
  typeof place !== 'string';

async function openArchive(
  path: string,
): Promise<{ readonly file: ReadStream; readonly size: number; readonly decoder: Duplex }> {
  try {
    const handle = await open(path);
    const { size } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    const file = handle.createReadStream({ start: 0, highWaterMark: READ_BYTES });
    if (buffer.readUInt16LE() === GZIP_MAGIC) return { file, size, decoder: createGunzip() };
    if (buffer.readUInt32LE() === ZSTD_MAGIC)
      return { file, size, decoder: Duplex.from(decompressZstd) };
    return { file, size, decoder: new PassThrough() };
  } catch (error) {
    throw unusableSource(path, messageOf(error), error);
  }
}
