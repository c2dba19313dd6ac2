import { createHash } from 'node:crypto';

import { type ContentCoding } from './content-coding.ts';

/** 132 bits of the hash: more than enough to tell versions of a document apart, and short in every header. */
const TAG_LENGTH = 22;
const TAG = /(?:W\/)?"([\u0021\u0023-\u007e\u0080-\u00ff]*)"/g;
const LIST = /^\s*(?:(?:W\/)?"[\u0021\u0023-\u007e\u0080-\u00ff]*"\s*(?:,\s*|$)|,\s*)+$/;

/** The opaque tag of a content: a part of the sha256 of its identity bytes, equal on every replica. */
export function contentTag(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, TAG_LENGTH);
}

/**
 * The strong entity tag of a content in a coding. Strong tags promise equal bytes (RFC 9110, 8.8.1), so each coding
 * has a tag of its own.
 */
export function entityTag(tag: string, coding: ContentCoding): string {
  return coding === 'identity' ? `"${tag}"` : `"${tag}-${coding}"`;
}

/**
 * The tag of an If-None-Match field that names this content, or undefined when none does. Tags are compared weakly
 * (RFC 9110, 13.1.2), and the tag of any coding counts: whoever holds the content in one coding holds the content.
 * `*` and a list that names the selected tag give the selected tag; a broken field matches nothing.
 */
export function findMatchingTag(
  field: string,
  tag: string,
  selected: ContentCoding,
): string | undefined {
  const selectedTag = entityTag(tag, selected);
  if (field === selectedTag || field.trim() === '*') return selectedTag;
  if (!LIST.test(field)) return undefined;
  const opaque = new Set(Array.from(field.matchAll(TAG), (match) => `"${match[1] ?? ''}"`));
  if (opaque.has(selectedTag)) return selectedTag;
  for (const coding of ['identity', 'gzip', 'br'] as const) {
    const other = entityTag(tag, coding);
    if (opaque.has(other)) return other;
  }
  return undefined;
}
