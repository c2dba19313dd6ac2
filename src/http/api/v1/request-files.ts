import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import { z } from 'zod';

import { FullmatchError } from '../../../errors.ts';
import { printableText } from '../../../lib/printable-text.ts';
import { requireFewSources, type RequestLimits } from '../../bodies/request-limits.ts';
import { invalidMember } from '../../bodies/validate-body.ts';

/** A file of a request as text, under the name that the client gave it or one of ours. */
export interface RequestFile {
  readonly name: string;
  readonly text: string;
}

/** A file as it comes: text, or the bytes of a form's part or of a Buffer in JSON. */
export interface GivenFile {
  readonly name: string;
  readonly content: string | Uint8Array;
}

/** How much larger than the body its unpacked archives may be: text shrinks to a tenth, hardly to less. */
const MOST_UNPACKED = 10;
/** Small bodies may unpack to this many bytes. */
const UNPACKED_BYTES = 1_000_000;
/** The first bytes of a zip with at least one file (APPNOTE.TXT 4.3.7). */
const ZIP_MARK = Buffer.from('PK\x03\x04', 'latin1');

const NAME_SHOWN_CHARACTERS = 200;

const isByte = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < 256;
/** `JSON.stringify` of a Buffer of Node.js gives this object. */
const bufferObject = z.object({ type: z.literal('Buffer'), data: z.unknown() });

/** A file in JSON: text, a Buffer as Node.js writes it, or JSON that the client has parsed. */
export function readJsonFile(value: unknown): GivenFile['content'] | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const { data } = bufferObject.safeParse(value).data ?? {};
  if (!Array.isArray(data)) return JSON.stringify(value);
  return data.every(isByte) ? Uint8Array.from(data as readonly number[]) : undefined;
}

/**
 * The files of a request as text. Archives are unpacked, within bounds that their directory is held to; what is not text
 * is left out, since no source is.
 * @param bodyBytes the size of the body that holds them
 * @throws FullmatchError invalid_parameter for an archive that cannot be unpacked, request_too_many_sources
 */
export async function readRequestFiles(
  given: readonly GivenFile[],
  bodyBytes: number,
  limits: RequestLimits,
): Promise<readonly RequestFile[]> {
  let leftBytes = Math.max(UNPACKED_BYTES, MOST_UNPACKED * bodyBytes);
  const files: RequestFile[] = [];
  const namesakes = new Map<string, number>();
  const add = (name: string, content: string | Uint8Array): void => {
    const text = typeof content === 'string' ? content : decode(content);
    if (text === undefined) return;
    // Forms name files without their folders, so that several may have one name.
    const before = namesakes.get(name) ?? 0;
    namesakes.set(name, before + 1);
    files.push({ name: before === 0 ? name : `${name} (${before + 1})`, text });
    requireFewSources(files.length, limits);
  };
  for (const { name, content } of given) {
    if (typeof content === 'string' || !isZip(content)) {
      add(name, content);
      continue;
    }
    const unpacked = await unpack(name, content, leftBytes, limits);
    for (const [path, bytes] of unpacked) {
      leftBytes -= bytes.length;
      add(path, bytes);
    }
  }
  return files;
}

function isZip(content: Uint8Array): boolean {
  return ZIP_MARK.equals(content.subarray(0, ZIP_MARK.length));
}

/** The files of an archive, whose number and sizes are counted in its directory before anything is unpacked. */
async function unpack(
  name: string,
  zip: Uint8Array,
  mostBytes: number,
  limits: RequestLimits,
): Promise<readonly (readonly [string, Buffer])[]> {
  const files: (readonly [string, Buffer])[] = [];
  let entries = 0;
  let bytes = 0;
  try {
    const archive = await fromBufferPromise(asBuffer(zip));
    for await (const entry of archive.eachEntry()) {
      requireFewSources((entries += 1), limits);
      if (entry.fileName.endsWith('/')) continue;
      // Entries may share their packed bytes, so those are counted as well.
      bytes += Math.max(entry.uncompressedSize, entry.compressedSize);
      if (bytes > mostBytes) {
        throw invalidMember('files', `the archive unpacks to more than ${mostBytes} bytes`);
      }
      // A file that is larger than its entry says is an error.
      files.push([entry.fileName, await buffer(await archive.openReadStreamPromise(entry))]);
    }
    return files;
  } catch (error) {
    if (error instanceof FullmatchError) throw error;
    const shown = printableText(name, NAME_SHOWN_CHARACTERS);
    throw invalidMember('files', `the archive ${shown} cannot be unpacked`);
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
