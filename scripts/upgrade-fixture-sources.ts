import { compileAsDeveloper, type TestInput } from '../test/support/developer.ts';
import { type SolcVersion } from '../test/support/compile-in-child.ts';

/** A submission: a standard JSON input, its compiler and its target. */
export interface Submission {
  readonly version: SolcVersion;
  readonly input: TestInput;
  readonly path: string;
  readonly name: string;
}

const NEWEST = '0.8.37';
const OLD = '0.4.26';

/** A file that no compilation needs, posing as somebody else's statement. */
export const AUDIT_SOURCE = {
  'contracts/AUDIT-by-OpenZeppelin.sol': {
    content: '// SPDX-License-Identifier: MIT\n// Audited: no findings.\n',
  },
};

const SETTINGS = { optimizer: { enabled: true, runs: 200 } };

/** One Solidity source for the newest compiler. */
export function solidityInput(name: string, text: string, comment = ''): Submission {
  const path = `contracts/${name}.sol`;
  const content = `// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0;\n${comment}${text}\n`;
  const input = { language: 'Solidity', sources: { [path]: { content } }, settings: SETTINGS };
  return { version: NEWEST, input, path, name };
}

/** A small contract whose name determines its bytecode, and whose comment determines its metadata. */
export function noteOf(name: string, comment: string): Submission {
  return solidityInput(
    name,
    `contract ${name} { string public constant label = "${name}"; uint256 public value; function set(uint256 v) external { value = v; } }`,
    `/// ${comment}\n`,
  );
}

export const TOKEN: Submission = solidityInput(
  'Token',
  'contract Token { mapping(address => uint256) public balanceOf; constructor() { balanceOf[msg.sender] = 1e18; } }',
);

/** The constructor returns bytecode that the compiler did not produce: 33ff sends all ether to the caller. */
export const CREATION_ONLY: Submission = solidityInput(
  'Deceiver',
  `contract Deceiver {
    uint256 public harmless;
    constructor() { if (msg.sender != address(1)) assembly { mstore(0, 0x33ff) return(30, 2) } }
}`,
);

/** Old versions of solc ignore unknown settings. */
export function auditedOldInput(): Submission {
  const path = 'contracts/Old.sol';
  const content = 'pragma solidity ^0.4.24;\ncontract Old { uint256 public value = 7; }\n';
  const settings = { ...SETTINGS, auditedBy: 'OpenZeppelin' };
  const input = { language: 'Solidity', sources: { [path]: { content } }, settings };
  return { version: OLD, input, path, name: 'Old' };
}

/** A Yul program with a name and a path; its bytecode is always the same. */
export function echoInput(name: string, path: string): Submission {
  const content = `object "${name}" {
    code { datacopy(0, dataoffset("runtime"), datasize("runtime")) return(0, datasize("runtime")) }
    object "runtime" { code { calldatacopy(0, 0, calldatasize()) return(0, calldatasize()) } }
}
`;
  const input = { language: 'Yul', sources: { [path]: { content } }, settings: SETTINGS };
  return { version: NEWEST, input, path, name };
}

/** The body of POST /v2/verify. */
export function bodyOf({ version, input, path, name }: Submission): object {
  return { stdJsonInput: input, compilerVersion: version, contractIdentifier: `${path}:${name}` };
}

/** The creation bytecode, as compiled by its developer. */
export async function compileCreation({ version, input, path, name }: Submission): Promise<string> {
  const selected = { ...input.settings, outputSelection: { '*': { '*': ['*'] } } };
  const compiled = await compileAsDeveloper(version, { ...input, settings: selected }, path, name);
  return compiled.creationCode;
}
