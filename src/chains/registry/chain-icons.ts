import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { FullmatchError, messageOf } from '../../errors.ts';
import { type ChainRecord } from './chain-record.ts';

/** An icon as it is served. */
export interface ChainIcon {
  readonly bytes: Buffer<ArrayBuffer>;
  /** Media type by file extension. */
  readonly type: string;
}

/** Chain icons in the operator's folder. */
export interface ChainIcons {
  /** Whether the folder has an icon of this chain. */
  has(record: ChainRecord): boolean;
  /** The icon; undefined if there is none, or it was removed. */
  read(record: ChainRecord): Promise<ChainIcon | undefined>;
}

/** Supported extensions and their media types. Of several icons with one name the first extension here wins. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.webp', 'image/webp'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.gif', 'image/gif'],
]);
const ENDINGS = [...TYPES.keys()];

/** Icons are small; larger files are something else. */
const ICON_MAX_BYTES = 1_048_576;

interface IconFile {
  readonly path: string;
  readonly ending: string;
}

/** Without a folder no chain has an icon. */
const NO_ICONS: ChainIcons = { has: () => false, read: async () => undefined };

/**
 * The icons in a folder: `1.svg` is that of chain 1, and `ethereum.png` that of every chain whose record
 * names the icon `ethereum`. The folder is listed here, and the icon name of a record is only looked up in
 * the listing, so no name from outside ever becomes a path. Links and folders are ignored.
 * @throws FullmatchError invalid_configuration if the folder cannot be read
 */
export async function openIcons(folder: string | undefined): Promise<ChainIcons> {
  if (folder === undefined) return NO_ICONS;
  const files = await listIcons(folder);
  const find = ({ chainId, icon }: ChainRecord): IconFile | undefined =>
    files.get(String(chainId)) ?? (icon === undefined ? undefined : files.get(icon));
  return {
    has: (record) => find(record) !== undefined,
    read: async (record) => {
      const file = find(record);
      return file === undefined ? undefined : readIcon(file);
    },
  };
}

async function listIcons(folder: string): Promise<ReadonlyMap<string, IconFile>> {
  const files = new Map<string, IconFile>();
  for (const entry of await readFolder(folder)) {
    const { name: stem, ext } = path.parse(entry.name);
    const ending = ext.toLowerCase();
    if (!entry.isFile() || !TYPES.has(ending)) continue;
    const known = files.get(stem);
    if (known !== undefined && ENDINGS.indexOf(known.ending) <= ENDINGS.indexOf(ending)) continue;
    files.set(stem, { path: path.join(folder, entry.name), ending });
  }
  return files;
}

async function readFolder(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    throw new FullmatchError(
      'invalid_configuration',
      `registry.icons: the folder ${folder} cannot be read (${messageOf(error)}); create it or remove the key`,
      { cause: error, details: { key: 'registry.icons' } },
    );
  }
}

/** The file may have changed since the folder was listed, so the opened file is checked again. */
async function readIcon({ path: file, ending }: IconFile): Promise<ChainIcon | undefined> {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  const handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  try {
    const found = await handle?.stat();
    if (handle === undefined || found?.isFile() !== true || found.size > ICON_MAX_BYTES) {
      return undefined;
    }
    const bytes = Buffer.alloc(found.size);
    const { bytesRead } = await handle.read(bytes, 0, found.size, 0);
    return { bytes: bytes.subarray(0, bytesRead), type: TYPES.get(ending) ?? '' };
  } finally {
    await handle?.close();
  }
}
