import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Hex } from '../../../src/lib/hex.ts';
import { type StandardJsonInput } from '../../../src/solidity/standard-json.ts';

/** Runtime and creation bytecode of a contract. */
interface Codes {
  readonly creationBytecode: Hex;
  readonly deployedBytecode: Hex;
}

/** The expected match of a bytecode, in the terms of API v2. */
type Match = 'exact_match' | 'match' | null;

/** The expected verdict of a case. */
export interface ExpectedVerdict {
  readonly runtimeMatch: Match;
  readonly creationMatch: Match;
  readonly runtimeTransformations: readonly object[] | null;
  readonly creationTransformations: readonly object[] | null;
  readonly runtimeValues: object | null;
  readonly creationValues: object | null;
}

/** A verification as data: chain state, submission, compiler output and verdict. */
export interface VerificationCase {
  readonly onchain: Codes;
  readonly input: {
    readonly stdJsonInput: StandardJsonInput;
    readonly compilerVersion: string;
    readonly contractIdentifier: string;
  };
  readonly output: Codes & {
    readonly compilationArtifacts: { readonly abi: unknown };
    readonly creationCodeArtifacts: { readonly cborAuxdata: object | null };
    readonly runtimeCodeArtifacts: { readonly cborAuxdata: object | null };
  };
  readonly verification: ExpectedVerdict;
}

/** The cases in and below a folder, by path without `.json`. */
export function readVerificationCases(folder: string): ReadonlyMap<string, VerificationCase> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .sort();
  return new Map(
    files.map((name) => [
      name.replace(/\.json$/, ''),
      JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as VerificationCase,
    ]),
  );
}
