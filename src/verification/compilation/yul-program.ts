import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { keepsToStack } from './verbatim-effect.ts';
import { bytesOfLiteral, readSourceTokens, type SourceToken } from './source-tokens.ts';

/** Calls of built-in functions that put bytes into the code which no instruction of the language does. */
const VERBATIM = /^verbatim_(\d+)i_(\d+)o$/;

/** An instruction that the compiler does not know, with what it needs around it. */
const VERBATIM_BYTES_OF_ONE = 8;
/** Short pieces, one behind another, are a long one: together they are less than a minimal proxy (45 bytes). */
const VERBATIM_BYTES_OF_ALL = 32;

/** A call of a function by a literal. */
interface Call {
  readonly name: string;
  /** The first argument; undefined where it is not a literal. */
  readonly literal: SourceToken | undefined;
  /** Whether the call stands in the body of a function, which the optimizer may copy to every place that calls it. */
  readonly inFunction: boolean;
}

/** Every call of `verbatim`. */
function* verbatimCalls(text: string): Generator<Call> {
  // Names have no escapes: most programs need no second look.
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

/** Whether the bytes of a call keep to the stack as its name says: {@link keepsToStack}. */
function isAsNamed(name: string, code: Buffer): boolean {
  const [, inputs, outputs] = VERBATIM.exec(name) ?? [];
  return keepsToStack(code, Number(inputs), Number(outputs));
}

/** Whether a program holds code as bytes. */
export function holdsVerbatim(input: StandardJsonInput): boolean {
  return textsOf(input).some((text) => verbatimCalls(text).next().done === false);
}

/**
 * Refuses programs that hold code as bytes: `verbatim` gives any contract's code without saying what it does. A few
 * bytes, for an instruction that the compiler does not know, are taken, where they stand once in the code and do what
 * the call says: not in a function, which the optimizer may write out at each call, and of instructions that go on to
 * the next one and keep to the inputs and outputs of the call. A function's own jump takes its target from the stack
 * below them: bytes that reach there need no jump of their own to run what stands in data. Data and literals need no
 * bound then: data stands behind the code, where no jump leads, and a literal is pushed, never run.
 * @throws VerificationFailure verbatim_not_allowed.
 */
export function requireReadableYul(input: StandardJsonInput): void {
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
