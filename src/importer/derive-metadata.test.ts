import { beforeAll, describe, expect, test } from 'vitest';
import { compileInChild, SOLC_VERSIONS } from '../../test/support/compile-in-child.ts';
import { type Members } from '../lib/members.ts';
import { deriveMetadata } from './derive-metadata.ts';

const PATH = 'contracts/Vault @1.sol';
const SOURCES = {
  [PATH]: `// SPDX-License-Identifier: (MIT OR Apache-2.0)
pragma solidity >=0.4.0;
import "./Adder.sol";
/// @title Ünïcode 漢 and "quotes"
contract Vault {
    /// @notice adds one \\ to a number
    /// @dev by the library
    function next(uint256 number) public returns (uint256) { return Adder.add(number); }
}
`,
  'contracts/Adder.sol': `pragma solidity >=0.4.0;
library Adder { function add(uint256 number) public returns (uint256) { return number + 1; } }
`,
};
const LIBRARY = '0xAbCdEf7890123456789012345678901234567890';
const KEPT = ['abi', 'devdoc', 'userdoc'];

const SETTINGS: readonly { what: string; settings: Members; least?: readonly [number, number] }[] =
  [
    { what: 'no settings', settings: {} },
    {
      what: 'runs, libraries and remappings',
      settings: {
        optimizer: { enabled: true, runs: 1_000 },
        libraries: { 'contracts/Adder.sol': { Adder: LIBRARY } },
        remappings: ['x/=y/', 'ctx:b/=c/', 'a/=y/'],
      },
    },
    { what: 'literal sources', settings: { metadata: { useLiteralContent: true } } },
    {
      what: 'another EVM and details that are the default ones',
      settings: {
        evmVersion: 'byzantium',
        optimizer: { enabled: true, runs: 7, details: { peephole: true } },
      },
      least: [5, 5],
    },
    {
      what: 'hashes of Swarm, the other pipeline and reverts without strings',
      settings: {
        metadata: { bytecodeHash: 'bzzr1' },
        viaIR: true,
        debug: { revertStrings: 'strip' },
        optimizer: { enabled: true, runs: 200 },
      },
      least: [8, 13],
    },
  ];

/** JSON whose keys were reordered, as a jsonb column returns it. */
function reorder(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(reorder);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reorder(member)]),
  );
}

interface Output {
  readonly contracts: Record<string, Record<string, Members & { metadata: string }>>;
}

describe.each(SOLC_VERSIONS)('Metadata of solc %s', (version) => {
  const [, minor = 0, patch = 0] = version.split('.').map(Number);
  const isThere = ([least, from]: readonly [number, number] = [0, 0]): boolean =>
    minor > least || (minor === least && patch >= from);

  const cases = SETTINGS.filter(({ least }) => isThere(least));
  const sources = Object.entries(SOURCES).map(([path, content]) => ({ path, content }));
  let outputs: readonly Output[];
  beforeAll(async () => {
    const outputSelection = { '*': { '*': ['metadata', ...KEPT] } };
    const inputs = cases.map(({ settings }) => ({
      language: 'Solidity',
      sources: Object.fromEntries(sources.map(({ path, content }) => [path, { content }])),
      settings: { ...settings, outputSelection },
    }));
    outputs = await compileInChild<Output>(version, inputs);
  });

  test.each(cases.map((each, index) => ({ ...each, index })))(
    'is derived byte for byte from the compilation: $what',
    ({ settings, index }) => {
      const { metadata, ...rest } = outputs[index]!.contracts[PATH]!['Vault']!;
      const document = JSON.parse(metadata) as {
        compiler: { version: string };
        settings: Members;
      };
      const written = { ...document.settings, compilationTarget: undefined };
      const artifacts = Object.fromEntries(KEPT.map((key) => [key, rest[key]]));
      for (const each of [settings, written]) {
        const derived = [
          ...deriveMetadata({
            version: document.compiler.version,
            fullyQualifiedName: `${PATH}:Vault`,
            settings: reorder(each) as Members,
            artifacts: reorder(artifacts) as Members,
            sources: [...sources].reverse(),
          }),
        ];
        expect(derived).toContain(metadata);
        expect(derived.length).toBeLessThanOrEqual(8);
      }
    },
  );
});
