import { type StandardJsonInput } from '../compilers/standard-json.ts';
import { VerificationFailure } from './verification-failure.ts';
import { readYulTokens, type YulToken } from './yul-tokens.ts';

/** Calls of built-in functions that put bytes into the code which no instruction of the language does. */
const VERBATIM = /^verbatim_\d+i_\d+o$/;

/** An instruction that the compiler does not know, with what it needs around it. */
const VERBATIM_BYTES_OF_ONE = 8;
/** Short pieces, one behind another, are a long one: together they are less than a minimal proxy (45 bytes). */
const VERBATIM_BYTES_OF_ALL = 32;

/** The first argument of every call of a function whose name fits. Undefined where it is no literal. */
function* callsOf(text: string, name: RegExp): Generator<YulToken | undefined> {
  let state: 'outside' | 'name' | 'call' = 'outside';
  for (const token of readYulTokens(text)) {
    if (state === 'call') yield token.kind === 'literal' ? token : undefined;
    if (token.kind === 'word' && name.test(token.text)) state = 'name';
    else state = state === 'name' && token.text === '(' ? 'call' : 'outside';
  }
}

function textsOf({ sources }: StandardJsonInput): readonly string[] {
  return Object.values(sources).map(({ content = '' }) => content);
}

/**
 * Refuses programs that hold code as bytes: `verbatim` gives any contract's code without saying what it does. A few
 * bytes, for an instruction that the compiler does not know, are taken. Data and literals need no bound: data stands
 * behind the code, where no jump leads, and a literal is pushed, never run.
 * @throws VerificationFailure verbatim_not_allowed.
 */
export function requireReadableYul(input: StandardJsonInput): void {
  let all = 0;
  for (const text of textsOf(input)) {
    for (const literal of callsOf(text, VERBATIM)) {
      const bytes = literal?.bytes ?? Infinity;
      all += bytes;
      if (bytes <= VERBATIM_BYTES_OF_ONE && all <= VERBATIM_BYTES_OF_ALL) continue;
      throw new VerificationFailure(
        'verbatim_not_allowed',
        `The program gives code as bytes: verbatim may hold ${VERBATIM_BYTES_OF_ONE} bytes at once and ${VERBATIM_BYTES_OF_ALL} in all. Write the rest as instructions.`,
      );
    }
  }
}

/** The libraries that a program links, by the names that it gives them. */
export function linkedByYul(input: StandardJsonInput): readonly string[] {
  return textsOf(input).flatMap((text) =>
    [...callsOf(text, /^linkersymbol$/)].flatMap((literal) => literal?.text ?? []),
  );
}
