import { type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { type Hex } from '../../lib/hex.ts';
import type { Compilation } from '../../repository/repository.ts';
import { type PackedRequest } from '../verification-request.ts';

/** The codes of a deployment by the word of whoever asks: nothing of a chain is read, and nothing is stored. */
export interface SubmittedCodes {
  /** Lower-case hex; of a library its own address is in its code. */
  readonly address: Hex;
  readonly creationCode?: Hex;
  readonly runtimeCode?: Hex;
}

/** A compilation without a place, and the codes that may come of it. */
export interface SubmittedCodeRequest {
  readonly request: PackedRequest;
  readonly codes: readonly SubmittedCodes[];
}

/** The contract of a compilation that given codes come of. */
export interface SubmittedCodeMatch {
  readonly compilation: Compilation;
  readonly judgement: ContractJudgement;
}
