import { type InputFiles } from '../../../src/solidity/detected-compilation.ts';
import { type InputFile } from '../../../src/solidity/input-file.ts';

/** The chosen files, and what can be verified in them. */
export interface ChosenInput {
  readonly files: readonly InputFile[];
  readonly dropped: InputFiles | undefined;
}

export const NO_INPUT: ChosenInput = { files: [], dropped: undefined };

/** Reads chosen files. The code for that is loaded with the first of them. */
export async function readInput(files: readonly InputFile[]): Promise<ChosenInput> {
  if (files.length === 0) return NO_INPUT;
  const { readInputFiles } = await import('../../../src/solidity/read-input-files.ts');
  return { files, dropped: readInputFiles(files) };
}

/** The files kept from an earlier visit, unless others were chosen while they were read. */
export const unlessChosen =
  (kept: ChosenInput) =>
  (now: ChosenInput): ChosenInput =>
    now === NO_INPUT ? kept : now;
