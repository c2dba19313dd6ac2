import { type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { configuredAddress } from '../../bytecode/explained-value.ts';
import { ADDRESS_BYTES, templateOf } from '../../bytecode/recompiled-code.ts';
import { type CodeVerdict } from '../../bytecode/verdict.ts';
import { checksumAddress, bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { printableText } from '../../lib/printable-text.ts';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { type CompiledTarget, withoutLibraries } from '../compilation/compile-contract.ts';
import { readConfiguredLibraries } from '../compilation/configured-libraries.ts';
import { linkedBySettings } from '../compilation/linked-libraries.ts';
import { VerificationFailure, type ComparedCodes } from '../verification-failure.ts';

/** A library that the bytecode on chain links at a different address than the settings. */
export interface OtherLibraryAddress {
  /** `path:Name`. */
  readonly library: string;
  readonly given: string;
  readonly onChain: string;
}

/** A compilation that does not match, with functions to compile and compare another one. */
interface LibraryMismatch {
  readonly input: StandardJsonInput;
  readonly compiled: CompiledTarget;
  readonly judgement: ContractJudgement;
  readonly onChain: { readonly runtime?: Uint8Array; readonly creation?: Uint8Array };
  readonly compile: (input: StandardJsonInput) => Promise<CompiledTarget>;
  readonly judge: (input: StandardJsonInput, compiled: CompiledTarget) => ContractJudgement;
}

/** Number of libraries listed in the message; the failure's data contain all of them. */
const LIBRARIES_SHOWN = 5;

/**
 * Finds the libraries whose addresses are the only difference from the bytecode on chain. If the first
 * difference is an address from the settings, compiles the sources without libraries and reads the linked
 * addresses from the bytecode on chain.
 * @returns an empty list if anything else differs
 * @throws FullmatchError as the compilers do
 */
export async function findOtherLibraryAddresses(
  mismatch: LibraryMismatch,
): Promise<readonly OtherLibraryAddress[]> {
  const { input, compiled, compile, judge, judgement } = mismatch;
  const side = judgement.runtime === undefined ? 'creation' : 'runtime';
  const code = mismatch.onChain[side];
  if (code === undefined || !beginsToDifferInLibrary(mismatch, side)) return [];
  const open = withoutLibraries(input);
  const unlinked = await compile(open);
  const verdict = judge(open, unlinked)[side];
  if (verdict === undefined || hasOtherBytes(verdict)) return [];
  const given = givenAddresses(input, compiled);
  return templateOf(unlinked.codes[side]).libraries.flatMap(({ id, starts: [start] }) => {
    const address = given(id);
    if (start === undefined || address === undefined) return [];
    const linked = bytesToHex(code.subarray(start, start + ADDRESS_BYTES));
    if (linked === address) return [];
    const [one, other] = [checksumAddress(address), checksumAddress(linked)];
    return [{ library: printableText(id), given: one, onChain: other }];
  });
}

/** Returns whether bytes differ outside the explained values. */
function hasOtherBytes(verdict: CodeVerdict): boolean {
  if (verdict.match !== null) return false;
  return ['no_match', 'bytecode_length_mismatch', 'compiled_bytecode_is_zero'].includes(
    verdict.reason,
  );
}

/** Returns whether the first byte that differs belongs to a library address from the settings. */
function beginsToDifferInLibrary(
  { input, compiled, judgement }: LibraryMismatch,
  side: 'creation' | 'runtime',
): boolean {
  const verdict = judgement[side];
  if (verdict === undefined || verdict.match !== null || verdict.reason !== 'no_match')
    return false;
  const { firstDifference: first, within } = verdict;
  if (within === 'library') return true;
  if (first === undefined) return false;
  const { bytes } = templateOf(compiled.codes[side]);
  const around = bytes.subarray(Math.max(0, first + 1 - ADDRESS_BYTES), first + ADDRESS_BYTES);
  return [...linkedBySettings(input, compiled).values()].some((address) =>
    around.includes(hexToBytes(address)),
  );
}

/**
 * Returns the address of a library in the settings: the one that the compiler linked, otherwise the one
 * configured for its placeholder.
 */
function givenAddresses(
  input: StandardJsonInput,
  compiled: CompiledTarget,
): (id: string) => Hex | undefined {
  const linked = linkedBySettings(input, compiled);
  const configured = readConfiguredLibraries(input.settings);
  return (id) => {
    const open = configuredAddress(id, configured);
    return linked.get(id) ?? (open && bytesToHex(open));
  };
}

/** Builds the failure that lists the libraries, each with both addresses. */
export function describeOtherLibraries(
  libraries: readonly OtherLibraryAddress[],
  { codes, data }: { readonly codes?: ComparedCodes; readonly data?: Record<string, unknown> } = {},
): VerificationFailure {
  const shown = libraries
    .slice(0, LIBRARIES_SHOWN)
    .map(
      ({ library, given, onChain }) =>
        `${library} is at ${onChain} in the code on chain, but the settings have ${given}`,
    );
  const more = libraries.length - shown.length;
  const others = more > 0 ? `; and ${more} more` : '';
  return new VerificationFailure(
    'library_address_differs',
    `The code on chain links other library addresses than the settings: ${shown.join('; ')}${others}. With the addresses on chain these sources match.`,
    { ...(codes && { codes }), data: { ...data, libraries } },
  );
}
