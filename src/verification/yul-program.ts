import { type StandardJsonInput } from '../compilers/standard-json.ts';
import { VerificationFailure } from './verification-failure.ts';
import { bytesOfLiteral, readYulTokens, type YulToken } from './yul-tokens.ts';

/** Calls of built-in functions that put bytes into the code which no instruction of the language does. */
const VERBATIM = /^verbatim_\d+i_\d+o$/;

/** An instruction that the compiler does not know, with what it needs around it. */
const VERBATIM_BYTES_OF_ONE = 8;
/** Short pieces, one behind another, are a long one: together they are less than a minimal proxy (45 bytes). */
const VERBATIM_BYTES_OF_ALL = 32;

/** Instructions that go on elsewhere, or that others go on at: JUMP, JUMPI, JUMPDEST. */
const JUMPS: ReadonlySet<number> = new Set([0x56, 0x57, 0x5b]);
const PUSH0 = 0x5f;
const PUSH32 = 0x7f;

/** A call of a function by a literal. */
interface Call {
  /** The first argument; undefined where it is not a literal. */
  readonly literal: YulToken | undefined;
  /** Whether the call stands in the body of a function, which the optimizer may copy to every place that calls it. */
  readonly inFunction: boolean;
}

/** Every call of a function whose name fits. */
function* callsOf(text: string, name: RegExp): Generator<Call> {
  // Names have no escapes: most programs need no second look.
  if (!/verbatim_|linkersymbol/.test(text)) return;
  let state: 'outside' | 'name' | 'call' = 'outside';
  const blocks: ('function' | 'block')[] = [];
  let opens: 'function' | 'block' = 'block';
  for (const token of readYulTokens(text)) {
    const isWord = token.kind === 'word';
    if (state === 'call') {
      const literal = token.kind === 'literal' ? token : undefined;
      yield { literal, inFunction: blocks.includes('function') };
    }
    if (isWord && token.text === 'function') opens = 'function';
    else if (token.kind === 'mark' && token.text === '{') {
      blocks.push(opens);
      opens = 'block';
    } else if (token.kind === 'mark' && token.text === '}') blocks.pop();
    if (isWord && name.test(token.text)) state = 'name';
    else state = state === 'name' && token.text === '(' ? 'call' : 'outside';
  }
}

/** Whether instructions run from the first byte to the last, and no jump begins or ends in them. */
function runsThrough(code: Buffer): boolean {
  let at = 0;
  while (at < code.length) {
    const opcode = code[at] ?? 0;
    if (JUMPS.has(opcode)) return false;
    at += opcode > PUSH0 && opcode <= PUSH32 ? opcode - PUSH0 + 1 : 1;
  }
  return at === code.length;
}

function textsOf({ sources }: StandardJsonInput): readonly string[] {
  return Object.values(sources).map(({ content = '' }) => content);
}

/**
 * Refuses programs that hold code as bytes: `verbatim` gives any contract's code without saying what it does. A few
 * bytes, for an instruction that the compiler does not know, are taken, where they stand once in the code and run
 * through: not in a function, which the optimizer may write out at each call, and without jumps or a PUSH that takes
 * in what follows. Data and literals need no bound: data stands behind the code, where then no jump leads, and a
 * literal is pushed, never run.
 * @throws VerificationFailure verbatim_not_allowed.
 */
export function requireReadableYul(input: StandardJsonInput): void {
  let all = 0;
  for (const text of textsOf(input)) {
    for (const { literal, inFunction } of callsOf(text, VERBATIM)) {
      const code = literal && bytesOfLiteral(literal);
      const bytes = code?.length ?? Infinity;
      all += bytes;
      const isShort = bytes <= VERBATIM_BYTES_OF_ONE && all <= VERBATIM_BYTES_OF_ALL;
      if (isShort && !inFunction && code !== undefined && runsThrough(code)) continue;
      throw new VerificationFailure(
        'verbatim_not_allowed',
        `The program gives code as bytes: verbatim may hold ${VERBATIM_BYTES_OF_ONE} bytes at once and ${VERBATIM_BYTES_OF_ALL} in all, outside of functions, without jumps and with whole instructions. Write the rest as instructions.`,
      );
    }
  }
}

/** The libraries that a program links, by the names that it gives them. */
export function linkedByYul(input: StandardJsonInput): readonly string[] {
  return textsOf(input).flatMap((text) =>
    [...callsOf(text, /^linkersymbol$/)].flatMap(({ literal }) =>
      literal === undefined ? [] : bytesOfLiteral(literal).toString('utf8'),
    ),
  );
}
