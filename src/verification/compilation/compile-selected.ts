import { type CompilerMessage, type StandardJsonInput } from '../../solidity/standard-json.ts';

interface Reading {
  readonly errors?: readonly CompilerMessage[];
}

/**
 * Compiles an input under several output selections in turn and returns the first result without errors. If
 * all have errors, returns the first result.
 */
export async function compileSelected<Read extends Reading>(
  [first, ...others]: readonly StandardJsonInput[],
  compile: (input: StandardJsonInput) => Promise<Read>,
): Promise<Read> {
  if (first === undefined) throw new Error('no output selection to compile under');
  const narrow = await compile(first);
  if (!hasErrors(narrow)) return narrow;
  for (const input of others) {
    const reading = await compile(input);
    if (!hasErrors(reading)) return reading;
  }
  return narrow;
}

function hasErrors({ errors = [] }: Reading): boolean {
  return errors.some(({ severity }) => severity === 'error');
}
