import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import { z } from 'zod';

import { FullmatchError } from '../../../errors.ts';
import { printableText } from '../../../lib/printable-text.ts';
import { requireSourceLimit, type RequestLimits } from '../../bodies/request-limits.ts';
import { invalidMember } from '../../bodies/validate-body.ts';

/** A text file of a request, under the client's name or a generated one. */
export interface RequestFile {
  readonly name: string;
  readonly text: string;
}

/** A file as received: text, or the bytes of a form part or of a Buffer in JSON. */
export interface ReceivedFile {
  readonly name: string;
  readonly content: string | Uint8Array;
}

/** Largest ratio of the unpacked archives to the body: text compresses to about a tenth, rarely to less. */
const MAX_UNPACKED = 10;
/** Unpacked size that any body may reach, however small. */
const UNPACKED_BYTES = 1_000_000;
/** The first bytes of a zip with at least one file (APPNOTE.TXT 4.3.7). */
const ZIP_MARK = Buffer.from('PK\x03\x04', 'latin1');

const NAME_SHOWN_CHARACTERS = 200;

const isByte = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < 256;
/** Result of `JSON.stringify` on a Node.js Buffer. */
const bufferObject = z.object({ type: z.literal('Buffer'), data: z.unknown() });

/** Reads a file in JSON: text, a Node.js Buffer, or JSON that the client has parsed. */
export function readJsonFile(value: unknown): ReceivedFile['content'] | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const { data } = bufferObject.safeParse(value).data ?? {};
  if (!Array.isArray(data)) return JSON.stringify(value);
  return data.every(isByte) ? Uint8Array.from(data as readonly number[]) : undefined;
}

/**
 * Reads the files of a request as text. Unpacks archives within the limits, which are checked against their
 * directory. Skips files that are not text, since no source is binary.
 * @param bodyBytes the size of the body that holds them
 * @throws FullmatchError invalid_parameter for an archive that cannot be unpacked, request_too_many_sources
 */
export async function readRequestFiles(
  given: readonly ReceivedFile[],
  bodyBytes: number,
  limits: RequestLimits,
): Promise<readonly RequestFile[]> {
  let leftBytes = Math.max(UNPACKED_BYTES, MAX_UNPACKED * bodyBytes);
  const files: RequestFile[] = [];
  const namesakes = new Map<string, number>();
  const add = (name: string, content: string | Uint8Array): void => {
    const text = typeof content === 'string' ? content : decode(content);
    if (text === undefined) return;
    // Forms name files without their folders, so several files may share a name.
    const before = namesakes.get(name) ?? 0;
    namesakes.set(name, before + 1);
    files.push({ name: before === 0 ? name : `${name} (${before + 1})`, text });
    requireSourceLimit(files.length, limits);
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

/** Unpacks an archive; checks the number and sizes of its files in the directory first. */
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
      requireSourceLimit((entries += 1), limits);
      if (entry.fileName.endsWith('/')) continue;
      // Entries may overlap in the archive, so packed bytes count as well.
      bytes += Math.max(entry.uncompressedSize, entry.compressedSize);
      if (bytes > mostBytes) {
        throw invalidMember('files', `the archive unpacks to more than ${mostBytes} bytes`);
      }
      // Throws if the file is larger than its entry states.
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
