import { type Diagnosis } from '../../../src/solidity/diagnosis.ts';
import { formatChanges } from '../../../src/solidity/setting-changes.ts';

const NEXT: Readonly<Record<string, string>> = {
  missing_source: 'Add the sources named here, including library files under node_modules or lib.',
  missing_or_invalid_source:
    'Use the sources as they were at deployment: the hashes of the submitted ones differ from those in the metadata.',
  invalid_metadata: 'Use the metadata exactly as the compiler wrote it.',
  invalid_language: 'Send Solidity, Yul or Vyper.',
  invalid_compilation_target: 'Name the contract as path:Name, with the path as in the input.',
  invalid_compiler_version:
    'Write the version as the compiler prints it, such as 0.8.30+commit.73712a01.',
  invalid_compiler_input: 'Correct the field of the input that the message names.',
  unsupported_setting:
    'Remove the setting that the message names: it does not affect the code, or the compiler does not know it.',
  settings_not_proven:
    'Remove libraries and remappings that the contract does not use, and send the sources as they were deployed.',
  verbatim_not_allowed:
    'Write the program as instructions: a match must show what the code does, not only its bytes.',
  unsupported_compiler_version:
    'Check the version, or ask the operator for it. Solidity is supported from 0.1.3 on, Solar from 0.3.0 on.',
  unsupported_language: 'Send Solidity, Yul or Vyper.',
  unsupported_chain: 'Choose a chain that this service supports.',
  compiler_error:
    'Compile the same input with this version on your machine, and fix what the compiler reports.',
  no_compiler_output: 'Compile the same input on your machine; the compiler returned nothing here.',
  contract_not_found_in_compiler_output:
    'Name a contract that these sources declare, as path:Name; names are case-sensitive.',
  metadata_not_set: 'Compile with metadata in the output, or send the standard JSON input instead.',
  compiler_timeout: 'Try again later, or ask the operator for more time for the compiler.',
  compiler_out_of_memory: 'Ask the operator for more memory for the compiler.',
  compiler_output_too_large: 'Send an input with fewer contracts in it.',
  compiler_crashed:
    'Compile the same input on your machine; it may be a bug in this compiler version.',
  compiler_unavailable: 'Try again later: the service could not get this compiler now.',
  cannot_fetch_bytecode: 'Try again later: too few endpoints of the chain responded.',
  contract_changed:
    'Try again: the code at the address, or its creation, changed during verification.',
  contract_not_deployed:
    'Check the chain and the address. If the contract was just created, wait until the block is final.',
  delegated_account: 'Verify the contract that the account delegates to, under its own address.',
  compiled_bytecode_is_zero:
    'Name the contract itself: an interface or an abstract contract has no code.',
  bytecode_length_mismatch:
    'Compare the compiler version and optimizer settings with those of the deployment: the bytecodes have different lengths.',
  extra_file_input_bug:
    'Send the standard JSON input with every file that was compiled, including those that are not imported: before 0.8.21 they could change the code.',
  immutable_out_of_range:
    'Check who deployed the contract and how: no constructor of these sources produces this value.',
  immutable_not_proven:
    'Name the creation transaction: the value of an internal function is valid only with the code that set it.',
  library_not_deployed:
    'Check the address of the library that the message names: no contract can be deployed there.',
  library_address_differs:
    'Set the library addresses to those in the code on chain and submit again. If you do not expect them, check who deployed the contract.',
  constructor_arguments_differ: 'Leave the arguments out: they are read from the chain.',
  call_protection_missing:
    'Check who deployed the library and how: its creation code writes its own address into it.',
  no_match:
    'Compare the version, the optimizer, the EVM version and the sources with those of the deployment. The bytes below show where the difference begins.',
  no_similar_match_found:
    'Send the sources: no sources stored here compile to this code. Newly stored sources are found after a few seconds.',
  job_timed_out: 'Try again: the service was busy, or the compilation is too large.',
  job_cancelled: 'You or the operator cancelled this job. You can send it again.',
  sources_too_large:
    'Send only the sources that the contract imports. If it needs all of them, ask the operator to raise limits.sourceBytes.',
  code_too_large: 'Verify a contract with at most 1 MB of code; no chain allows larger ones.',
  internal_error: 'Report the error id to the operator: the log has the details.',
};

/** Next step after a failed verification, by failure code. */
export function adviceFor(code: string): string {
  return Object.hasOwn(NEXT, code)
    ? (NEXT[code] ?? '')
    : 'If the message does not help, report the error id to the operator.';
}

/** What a kind of failure means for the contract. */
export const FAILURE_TITLES: Readonly<Record<string, string>> = {
  no_match: 'No match: these sources compile to different code',
  invalid_input: 'Not verified: the input is invalid',
  not_checked: 'Could not check',
};

/** Next step according to a diagnosis. */
export function adviceForDiagnosis({
  compiler,
  contract,
  settings,
  changes,
  place,
}: Diagnosis): string | undefined {
  if (contract !== undefined) {
    const more = changes === undefined ? '' : ` and set ${formatChanges(changes)}`;
    return `Choose the contract ${contract}${more}, and send it again.`;
  }
  if (changes ?? settings) {
    return `Set ${changes ? formatChanges(changes) : (settings ?? '')}, and send it again.`;
  }
  if (compiler !== undefined) return `Choose the compiler ${compiler.onChain}, and send it again.`;
  if (place === undefined) return undefined;
  return `Compare ${place.path} around line ${place.line} with the deployed version.`;
}

const HEADINGS: Readonly<Record<string, string>> = {
  compilerErrors: 'Compiler output',
  missingSources: 'Missing sources',
  nearest: 'Similar versions',
};

/** Heading of a fact of a failure; `otherFact`, which has no own heading, is listed under "Other fact". */
export const headingOf = (name: string): string =>
  HEADINGS[name] ??
  name
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^./, (letter) => letter.toUpperCase());
