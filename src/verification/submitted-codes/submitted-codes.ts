import { type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { type Hex } from '../../lib/hex.ts';
import type { Compilation } from '../../repository/repository.ts';
import { type PackedRequest } from '../verification-request.ts';

/** Bytecode of a deployment as submitted by the client; no chain is read, and nothing is stored. */
export interface SubmittedCodes {
  /** Lower-case hex; a library contains its own address. */
  readonly address: Hex;
  readonly creationCode?: Hex;
  readonly runtimeCode?: Hex;
}

/** A compilation without a location, and the bytecode that may come from it. */
export interface SubmittedCodeRequest {
  readonly request: PackedRequest;
  readonly codes: readonly SubmittedCodes[];
}

/** The contract of a compilation that matches a submitted bytecode. */
export interface SubmittedCodeMatch {
  readonly compilation: Compilation;
  readonly judgement: ContractJudgement;
}
