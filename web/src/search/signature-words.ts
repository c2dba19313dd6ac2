import { keccak256 } from '../../../src/lib/keccak.ts';
import { parseSignature } from '../../../src/solidity/parse-signature.ts';

/** A signature and its Keccak-256 hash: a function has the first 4 bytes as selector, an event all of them as topic. */
export interface HashedSignature {
  readonly signature: string;
  readonly selector: string;
  readonly topic: string;
}

const SELECTOR_CHARACTERS = 10;
const DECLARATION = /^(?:(?:function|event|error)\s+)?([A-Za-z_$][\w$]*)\s*(\(.*)$/s;

/**
 * Hashes a signature, also one written as a declaration with keywords, parameter names and `uint`.
 * @returns undefined for any other text
 */
export function hashSignature(text: string): HashedSignature | undefined {
  const [, name, rest] = DECLARATION.exec(text.trim()) ?? [];
  const types = rest === undefined ? undefined : readTypes(rest, 0)?.types;
  if (name === undefined || types === undefined) return undefined;
  const signature = `${name}${types}`;
  if (parseSignature(signature) === undefined) return undefined;
  const bytes = keccak256(new TextEncoder().encode(signature));
  // A browser has no Buffer.
  const topic = `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  return { signature, selector: topic.slice(0, SELECTOR_CHARACTERS), topic };
}

/** Reads the list of types that begins at a parenthesis, without the names of the parameters. */
function readTypes(
  text: string,
  from: number,
): { readonly types: string; readonly end: number } | undefined {
  const types: string[] = [];
  let at = from + 1;
  for (;;) {
    at += /^\s*(?:tuple(?=\s*\())?\s*/.exec(text.slice(at))?.[0].length ?? 0;
    const nested = text[at] === '(' ? readTypes(text, at) : undefined;
    if (text[at] === '(' && nested === undefined) return undefined;
    if (nested !== undefined) at = nested.end;
    // The type, followed by words such as `indexed`, `memory` and the name.
    const [all = '', type = ''] = /^([^\s,()]*)[^,()]*/.exec(text.slice(at)) ?? [];
    types.push(`${nested?.types ?? ''}${canonicalType(type)}`);
    at += all.length;
    if (text[at] === ')') break;
    if (text[at] !== ',') return undefined;
    at += 1;
  }
  return { types: `(${types.join(',')})`, end: at + 1 };
}

const canonicalType = (type: string): string => type.replace(/^(u?int)(?=\[|$)/, '$1256');
