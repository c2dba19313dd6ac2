import { readSourceTokens } from '../compilation/source-tokens.ts';

/** Keywords that start a declaration with a body in Solidity; the last three have no name. */
const NAMED: ReadonlySet<string> = new Set(['function', 'modifier']);
const NAMELESS: ReadonlySet<string> = new Set(['constructor', 'receive', 'fallback']);

interface Declaration {
  readonly name: string;
  readonly at: number;
  /** Number of open braces before its body. */
  readonly depth: number;
}

/**
 * Returns the name of the Solidity function, modifier or constructor whose declaration contains an offset;
 * undefined outside of all. A function type in a declaration has no body and is skipped.
 * @param offset in characters
 */
export function findEnclosingFunction(source: string, offset: number): string | undefined {
  let depth = 0;
  let begun: Declaration | undefined;
  let open: Declaration | undefined;
  let isNameNext = false;
  for (const { kind, text, at } of readSourceTokens(source)) {
    if (at > offset && begun === undefined && open === undefined) return undefined;
    if (kind === 'word') {
      if (isNameNext && begun !== undefined) begun = { ...begun, name: text };
      isNameNext = false;
      if (open !== undefined || begun !== undefined) continue;
      if (NAMED.has(text) || NAMELESS.has(text)) {
        // Before 0.6.0 the fallback function has no name.
        begun = { name: text === 'function' ? 'fallback' : text, at, depth };
        isNameNext = NAMED.has(text);
      }
      continue;
    }
    isNameNext = false;
    if (kind !== 'mark') continue;
    if (text === '{') {
      if (begun !== undefined) open = begun;
      begun = undefined;
      depth += 1;
    } else if (text === '}') {
      depth -= 1;
      if (open?.depth !== depth) continue;
      if (open.at <= offset && offset <= at) return open.name;
      open = undefined;
    } else if (text === ';') begun = undefined;
  }
  return undefined;
}
