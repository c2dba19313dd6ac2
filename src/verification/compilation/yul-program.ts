import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { hasDeclaredStackEffect } from './verbatim-effect.ts';
import { bytesOfLiteral, readSourceTokens, type SourceToken } from './source-tokens.ts';

/** Calls of the built-in functions that insert raw bytes into the bytecode, past the instructions of the language. */
const VERBATIM = /^verbatim_(\d+)i_(\d+)o$/;

/** Room for an instruction that the compiler does not know and its operands. */
const VERBATIM_BYTES_OF_ONE = 8;
/** Consecutive short pieces form a long one: together they must be shorter than a minimal proxy (45 bytes). */
const VERBATIM_BYTES_OF_ALL = 32;

/** A call of a function with a literal. */
interface Call {
  readonly name: string;
  /** The first argument; undefined if it is not a literal. */
  readonly literal: SourceToken | undefined;
  /** Whether the call is in the body of a function, which the optimizer may inline at every call site. */
  readonly inFunction: boolean;
}

/** Yields every call of `verbatim`. */
function* verbatimCalls(text: string): Generator<Call> {
  // Names have no escapes, so most programs need no tokenizing.
  if (!text.includes('verbatim_')) return;
  let state: 'outside' | 'name' | 'call' = 'outside';
  const blocks: ('function' | 'block')[] = [];
  let functions = 0;
  let opens: 'function' | 'block' = 'block';
  let called = '';
  for (const token of readSourceTokens(text)) {
    const isWord = token.kind === 'word';
    if (state === 'call') {
      const literal = token.kind === 'literal' ? token : undefined;
      yield { name: called, literal, inFunction: functions > 0 };
    }
    if (isWord && token.text === 'function') opens = 'function';
    else if (token.kind === 'mark' && token.text === '{') {
      blocks.push(opens);
      if (opens === 'function') functions += 1;
      opens = 'block';
    } else if (token.kind === 'mark' && token.text === '}' && blocks.pop() === 'function') {
      functions -= 1;
    }
    if (isWord && VERBATIM.test(token.text)) {
      state = 'name';
      called = token.text;
    } else state = state === 'name' && token.text === '(' ? 'call' : 'outside';
  }
}

function textsOf({ sources }: StandardJsonInput): readonly string[] {
  return Object.values(sources).map(({ content = '' }) => content);
}

/** Returns whether the bytes of a call have the stack effect that its name declares: {@link hasDeclaredStackEffect}. */
function isAsNamed(name: string, code: Buffer): boolean {
  const [, inputs, outputs] = VERBATIM.exec(name) ?? [];
  return hasDeclaredStackEffect(code, Number(inputs), Number(outputs));
}

/** Returns whether a program contains raw bytecode. */
export function containsVerbatim(input: StandardJsonInput): boolean {
  return textsOf(input).some((text) => verbatimCalls(text).next().done === false);
}

/**
 * Rejects programs that contain raw bytecode: `verbatim` can reproduce any contract without showing what it
 * does. A few bytes, for an instruction that the compiler does not know, are allowed if they occur once in
 * the bytecode and do what the call declares. They must not be in a function, which the optimizer may inline
 * at each call, and may only contain instructions that continue with the next one and stay within the inputs
 * and outputs of the call. A function's own jump takes its target from the stack below them: bytes that reach
 * there could run code hidden in data without a jump of their own. With these rules, data and literals need
 * no limit: data follows the code, where no jump leads, and a literal is pushed, never run.
 * @throws VerificationFailure verbatim_not_allowed.
 */
export function requireNoRawBytecode(input: StandardJsonInput): void {
  let all = 0;
  for (const text of textsOf(input)) {
    for (const { name, literal, inFunction } of verbatimCalls(text)) {
      const code = literal && bytesOfLiteral(literal);
      const bytes = code?.length ?? Infinity;
      all += bytes;
      const isShort = bytes <= VERBATIM_BYTES_OF_ONE && all <= VERBATIM_BYTES_OF_ALL;
      if (isShort && !inFunction && code !== undefined && isAsNamed(name, code)) continue;
      throw new VerificationFailure(
        'verbatim_not_allowed',
        `The program contains raw bytes: verbatim may contain ${VERBATIM_BYTES_OF_ONE} bytes at a time and ${VERBATIM_BYTES_OF_ALL} in all, outside of functions, and only whole known instructions that take the inputs and leave the outputs of the call, and do not jump, halt, call or create. Write the rest as instructions.`,
      );
    }
  }
}
