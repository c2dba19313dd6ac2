import { createHash } from 'node:crypto';

import { CODINGS, type ContentCoding } from './content-coding.ts';

/** 132 bits of the hash: more than enough to tell versions of a document apart, and short in every header. */
const TAG_LENGTH = 22;
const TAG = /(?:W\/)?"([\u0021\u0023-\u007e\u0080-\u00ff]*)"/g;
const LIST = /^\s*(?:(?:W\/)?"[\u0021\u0023-\u007e\u0080-\u00ff]*"\s*(?:,\s*|$)|,\s*)+$/;

/** The strong entity tags of a content in every coding. */
export type EntityTags = Readonly<Record<ContentCoding, string>>;

/**
 * The entity tags of a content: a part of the sha256 of its identity bytes, so equal on every replica, and the
 * coding. A strong tag promises equal bytes (RFC 9110, 8.8.1), so each coding has a tag of its own.
 */
export function entityTags(bytes: Uint8Array): EntityTags {
  const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, TAG_LENGTH);
  return { identity: `"${tag}"`, gzip: `"${tag}-gzip"`, br: `"${tag}-br"` };
}

/**
 * The coding whose tag an If-None-Match field names, or undefined when it names none of this content. Tags are
 * compared weakly (RFC 9110, 13.1.2), and the tag of any coding counts: a client that holds the content in one coding
 * holds the content. `*` and a list that has the selected tag give the selected coding; a broken field names nothing.
 */
export function matchIfNoneMatch(
  field: string,
  tags: EntityTags,
  selected: ContentCoding,
): ContentCoding | undefined {
  if (field === tags[selected] || field === '*') return selected;
  if (!LIST.test(field)) return undefined;
  const named = new Set(Array.from(field.matchAll(TAG), (match) => `"${match[1] ?? ''}"`));
  if (named.has(tags[selected])) return selected;
  return CODINGS.find((coding) => named.has(tags[coding]));
}
