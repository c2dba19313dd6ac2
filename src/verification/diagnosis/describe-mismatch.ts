import { type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { toCodeTemplate } from '../../bytecode/recompiled-code.ts';
import { bytesToHex } from '../../lib/hex.ts';
import { type CompiledTarget } from '../compilation/compile-contract.ts';
import { type Attempt } from '../compilation/needed-sources.ts';
import { type OnChain } from '../read-on-chain.ts';
import { type ComparedCodes, VerificationFailure } from '../verification-failure.ts';
import { type SettingsFound } from './diagnose-mismatch.ts';
import { describeDiagnosis, type Diagnosis } from '../../solidity/diagnosis.ts';
import { describeOtherLibraries, type OtherLibraryAddress } from './other-library-addresses.ts';

function comparedCodes({ codes }: CompiledTarget, { deployed, creation }: OnChain): ComparedCodes {
  return {
    recompiledRuntimeCode: bytesToHex(toCodeTemplate(codes.runtime).bytes),
    recompiledCreationCode: bytesToHex(toCodeTemplate(codes.creation).bytes),
    onchainRuntimeCode: bytesToHex(deployed.code),
    ...(creation && {
      onchainCreationCode: bytesToHex(creation.creationCode),
      creationTransactionHash: creation.transactionHash,
    }),
  };
}

const REASON_TEXTS = {
  compiled_bytecode_is_zero:
    'The compilation produces no bytecode: an interface or an abstract contract cannot be deployed.',
  bytecode_length_mismatch: 'The bytecode on chain and the compiled bytecode differ in length.',
  no_match: 'The bytecode on chain differs from the compiled bytecode.',
  immutable_out_of_range:
    'The code on chain has an immutable whose value is outside the range of its type. Only the creation transaction can prove such a value; provide its hash.',
  immutable_not_proven:
    'The code on chain has an immutable that holds an internal function or has an unknown type. Only the creation transaction can prove its value; provide its hash.',
  library_not_deployed:
    'The code on chain links a library at an address where no contract can be deployed.',
  call_protection_missing:
    'The code on chain is a library with zeros instead of its own address: these sources did not create it, and its functions can be called directly.',
} as const;

/**
 * Messages for bytecode that is equal, while the creation bytecode that should prove an immutable does not
 * come from the sources.
 */
const OTHER_CREATION_TEXTS: Readonly<Record<string, string>> = {
  immutable_not_proven:
    'The code on chain has an immutable that holds an internal function or has an unknown type, and the creation code does not match these sources. It is not proven that their constructor set the value.',
  immutable_out_of_range:
    'The code on chain has an immutable whose value is outside the range of its type, and the creation code does not match these sources. It is not proven that their constructor set the value.',
};

/** Returns whether bytes of the runtime bytecode differ outside the explained values. */
export function isOtherCode({ runtime }: ContractJudgement): boolean {
  const reason = runtime?.match === null ? runtime.reason : 'no_match';
  return reason === 'no_match' || reason === 'bytecode_length_mismatch';
}

/** What is known about a mismatch. */
export interface MismatchFacts {
  /** Whether the bytecode was found to depend on files that are not imported. */
  readonly isFilesFault: boolean;
  /** Libraries whose addresses are the only difference. */
  readonly libraries: readonly OtherLibraryAddress[];
  readonly diagnosis: Diagnosis;
  /** Settings with which the sources match. */
  readonly settings?: SettingsFound;
}

/**
 * Builds the failure of the runtime bytecode. A matching creation is reported with it: the constructor
 * returned different code.
 */
export function describeMismatch(
  { judgement: { runtime, creation }, compiled }: Attempt,
  onChain: OnChain,
  { isFilesFault, libraries, diagnosis }: MismatchFacts,
): VerificationFailure {
  const codes = comparedCodes(compiled, onChain);
  const data = {
    runtime: runtime?.match === null ? runtime : undefined,
    creation: creation?.match ? { match: creation.match } : creation,
    ...(Object.keys(diagnosis).length > 0 && { diagnosis }),
  };
  if (libraries.length > 0) return describeOtherLibraries(libraries, { codes, data });
  const reason = runtime?.match === null ? runtime.reason : 'no_match';
  if (isFilesFault) {
    return new VerificationFailure(
      'extra_file_input_bug',
      'The metadata matches the code on chain, but the code does not. The code depends on files that the contract does not import. Verify with the complete standard JSON input of the original compilation.',
      { codes, data },
    );
  }
  const otherCreation = creation && OTHER_CREATION_TEXTS[reason];
  if (otherCreation !== undefined) {
    const code = reason === 'immutable_not_proven' ? 'no_match' : reason;
    return new VerificationFailure(code, otherCreation, { codes, data });
  }
  const more = creation?.match
    ? ' The creation code matches these sources, but the constructor returned different code.'
    : '';
  const cause = describeDiagnosis(diagnosis);
  const { contract, settings } = diagnosis;
  const isFound = contract !== undefined || settings !== undefined;
  const text = isFound ? 'As submitted, the sources do not match.' : REASON_TEXTS[reason];
  const message = `${cause === undefined ? '' : `${cause} `}${text}${more}`;
  return new VerificationFailure(reason, message, { codes, data });
}
