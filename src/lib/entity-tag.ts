import { createHash } from 'node:crypto';

import { CODINGS, type ContentCoding } from './content-coding.ts';

/** 132 bits of the hash: more than enough to distinguish versions of a document, and short in a header. */
const TAG_LENGTH = 22;
const TAG = /(?:W\/)?"([\u0021\u0023-\u007e\u0080-\u00ff]*)"/g;
const LIST = /^\s*(?:(?:W\/)?"[\u0021\u0023-\u007e\u0080-\u00ff]*"\s*(?:,\s*|$)|,\s*)+$/;

/** The strong entity tags of a content, by coding. */
export type EntityTags = Readonly<Record<ContentCoding, string>>;

/**
 * Returns the entity tags of a content: a prefix of the sha256 of its identity bytes, so equal on every
 * replica, plus the coding. A strong tag promises equal bytes (RFC 9110, 8.8.1), so each coding has its own
 * tag.
 */
export function entityTags(bytes: Uint8Array): EntityTags {
  const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, TAG_LENGTH);
  return { identity: `"${tag}"`, gzip: `"${tag}-gzip"`, br: `"${tag}-br"` };
}

/**
 * Returns the coding whose tag an If-None-Match field contains, or undefined if it contains none of this
 * content. Tags are compared weakly (RFC 9110, 13.1.2), and the tag of any coding counts, since a client that
 * has the content in one coding has the content. `*` or a list with the selected tag returns the selected
 * coding; a malformed field matches nothing.
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
