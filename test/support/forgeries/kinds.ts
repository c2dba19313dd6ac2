import { type SolcVersion } from '../compile-in-child.ts';
import { deploy } from '../anvil.ts';
import { bodyOf, compile, placeCode, type Compiled, type Forgery, type Input } from './forgery.ts';

const NEWEST = '0.8.37';
const IMMUTABLE_VERSIONS = ['0.6.12', '0.7.6', '0.8.4', '0.8.20', NEWEST] as const;
const CONSTRUCTOR_VERSIONS = [
  '0.4.26',
  '0.5.17',
  '0.6.12',
  '0.7.6',
  '0.8.4',
  '0.8.20',
  NEWEST,
] as const;

const construct = (version: SolcVersion): string =>
  `constructor() ${/^0\.[456]\./.test(version) ? 'public' : ''}`;

/** 33ff sends all ether to any caller; the others call, return and destroy in other ways. */
const RETURNED = ['33ff', '32ff', '60016000f3', '3d3d3d3d335af1'] as const;

function constructorReturns(): Forgery[] {
  return CONSTRUCTOR_VERSIONS.flatMap((version) =>
    RETURNED.flatMap((code) =>
      [true, false].map((named): Forgery => {
        const length = code.length / 2;
        const source = `contract A { uint public x; ${construct(version)} { if (msg.sender != address(1)) { assembly { mstore(0, 0x${code}) return(${32 - length}, ${length}) } } } }`;
        return {
          id: `constructor_returns ${version} ${code}${named ? ' named' : ''}`,
          kind: 'constructor_returns',
          prepare: async (anvil) => {
            const compiled = await compile({ version, source });
            if (compiled === undefined) return undefined;
            const { address, transactionHash } = await deploy(anvil, compiled.evm.bytecode.object);
            const more = named ? { creationTransactionHash: transactionHash } : {};
            return { address, body: bodyOf({ version, source }, more) };
          },
        };
      }),
    ),
  );
}

/** Declarations of an immutable x, with a word that is not a valid value of its type. */
const MISTYPED: readonly (readonly [
  name: string,
  declaration: string,
  value: string,
  forged: string,
])[] = [
  ['address', 'address immutable x', 'address(5)', 'ff'.repeat(32)],
  ['contract', 'A immutable x', 'A(address(5))', `01${'00'.repeat(31)}`],
  ['bool', 'bool immutable x', 'true', '02'.padStart(64, '0')],
  ['enum', 'enum E { P, Q } E immutable x', 'E.Q', '02'.padStart(64, '0')],
  ['uint8', 'uint8 immutable x', '5', '0100'.padStart(64, '0')],
  ['uint128', 'uint128 immutable x', '5', `01${'00'.repeat(16)}`.padStart(64, '0')],
  ['int16', 'int16 immutable x', '5', '018000'.padStart(64, '0')],
  ['bytes4', 'bytes4 immutable x', '0x01020304', `01020304${'00'.repeat(27)}01`],
  ['function', 'function() internal returns (uint) immutable x', 'g', '05'.padStart(64, '0')],
];

function withImmutable({ evm }: Compiled, word: string): string | undefined {
  const { object, immutableReferences = {} } = evm.deployedBytecode;
  const references = Object.values(immutableReferences).flat();
  if (references.length === 0) return undefined;
  return references.reduce(
    (code, { start, length }) => code.slice(0, 2 * start) + word + code.slice(2 * (start + length)),
    object,
  );
}

function mistypedImmutables(): Forgery[] {
  return IMMUTABLE_VERSIONS.flatMap((version) =>
    MISTYPED.map(([name, declaration, value, forged]): Forgery => {
      const use = name === 'function' ? 'x()' : name === 'bool' ? 'x ? 1 : 2' : '7';
      const touch = name === 'function' || name === 'bool' ? '' : 'emit L(abi.encode(x));';
      const source = `contract A { event L(bytes b); ${declaration}; ${construct(version)} { x = ${value}; } function g() internal returns (uint) { return 3; } function f() public returns (uint) { ${touch} return ${use}; } }`;
      return {
        id: `immutable ${version} ${name}`,
        kind: 'immutable',
        prepare: async (anvil) => {
          const compiled = await compile({ version, source });
          const code = compiled && withImmutable(compiled, forged);
          if (code === undefined) return undefined;
          return { address: await placeCode(anvil, code), body: bodyOf({ version, source }) };
        },
      };
    }),
  );
}

const BAD_LIBRARIES: Readonly<Record<string, string>> = {
  zero: '00'.repeat(20),
  ...Object.fromEntries(
    Array.from({ length: 9 }, (_, index) => [
      `precompile ${index + 1}`,
      (index + 1).toString(16).padStart(40, '0'),
    ]),
  ),
  'without code': 'c0ffee'.padStart(40, '1'),
};

function badLibraries(): Forgery[] {
  return (['0.5.17', '0.7.6', '0.8.20', NEWEST] as const).flatMap((version) =>
    Object.entries(BAD_LIBRARIES).flatMap(([name, library]) =>
      (name === 'zero' ? [false] : [true]).map((configured): Forgery => {
        const source = `library L { function g(uint a) public pure returns (uint) { return a + 1; } } contract A { function f(uint a) public pure returns (uint) { return L.g(a); } }`;
        return {
          id: `library ${version} ${name}`,
          kind: 'library',
          prepare: async (anvil) => {
            const compiled = await compile({ version, source });
            if (compiled === undefined) return undefined;
            const code = compiled.evm.deployedBytecode.object.replaceAll(/__.{38}/g, library);
            const settings = configured ? { libraries: { 'a.sol': { L: `0x${library}` } } } : {};
            const address = await placeCode(anvil, code);
            return { address, body: bodyOf({ version, source, settings }) };
          },
        };
      }),
    ),
  );
}

/** A program whose runtime bytecode is a literal: the bytecode on chain. */
const yulOfData = (code: string): string =>
  `object "A" { code { datacopy(0, dataoffset("r"), datasize("r")) return(0, datasize("r")) } object "r" { code { ${
    code.length < 66 ? `verbatim_0i_0o(hex"${code}")` : `verbatim_0i_0o(hex"${code}")`
  } } } }`;
const yulOfDataObject = (code: string): string =>
  `object "A" { code { datacopy(0, dataoffset("r"), datasize("r")) return(0, datasize("r")) } data "r" hex"${code}" }`;

function yulLiterals(): Forgery[] {
  const shapes = { verbatim: yulOfData, data: yulOfDataObject } as const;
  return (['0.8.20', '0.8.24', '0.8.30', NEWEST] as const).flatMap((version) =>
    Object.entries(shapes).flatMap(([shape, sourceOf]) =>
      [40, 200, 1_500].map((length): Forgery => {
        const victim = '60'.repeat(length);
        const source = sourceOf(victim);
        return {
          id: `yul ${version} ${shape} ${length}`,
          kind: 'yul_literal',
          prepare: async (anvil) => {
            const compiled = await compile({ version, language: 'Yul', source });
            if (compiled === undefined) return undefined;
            const { address } = await deploy(anvil, compiled.evm.bytecode.object);
            return { address, body: bodyOf({ version, language: 'Yul', source }) };
          },
        };
      }),
    ),
  );
}

function delegationDesignators(): Forgery[] {
  return Array.from({ length: 8 }, (_, index): Forgery => {
    const code = `ef0100${(index + 1).toString(16).padStart(2, '0').repeat(20)}`;
    const source = yulOfDataObject(code);
    return {
      id: `delegation ${index}`,
      kind: 'delegation',
      prepare: async (anvil) => {
        const address = await placeCode(anvil, code);
        return { address, body: bodyOf({ version: NEWEST, language: 'Yul', source }) };
      },
    };
  });
}

const MARK = 'AuditedByOpenZeppelin';
const plain = (salt: string): string => `contract A { uint public x${salt}; }`;

async function deployHonest(anvil: Parameters<Forgery['prepare']>[0], input: Input) {
  const compiled = await compile({ version: input.version, source: input.source });
  if (compiled === undefined) return undefined;
  return { compiled, ...(await deploy(anvil, compiled.evm.bytecode.object)) };
}

function plantedSettings(): Forgery[] {
  const settings: Readonly<Record<string, object>> = {
    key: { auditedBy: MARK },
    nested: { optimizer: { enabled: true, runs: 200, [MARK]: true } },
    metadata: { metadata: { [MARK]: 1 } },
    model: { modelChecker: { contracts: { [MARK]: [MARK] }, engine: 'none' } },
  };
  return (['0.4.18', '0.4.26', '0.5.17', '0.8.20', NEWEST] as const).flatMap((version) =>
    Object.entries(settings).map(([name, more], index): Forgery => {
      const source = plain(`s${index}`);
      return {
        id: `settings ${version} ${name}`,
        kind: 'planted_settings',
        planted: MARK,
        prepare: async (anvil) => {
          const honest = await deployHonest(anvil, { version, source });
          if (honest === undefined) return undefined;
          return {
            address: honest.address,
            body: bodyOf({ version, source, settings: { ...more } }),
          };
        },
      };
    }),
  );
}

function plantedFiles(): Forgery[] {
  const names = [`contracts/${MARK}.sol`, `${MARK}.md`, `../../${MARK}`, `a.sol/${MARK}`];
  return (['0.4.11', '0.4.26', '0.6.12', '0.8.20', NEWEST] as const).flatMap((version) =>
    names.map((name, index): Forgery => {
      const source = plain(`f${index}`);
      return {
        id: `file ${version} ${name}`,
        kind: 'planted_file',
        planted: MARK,
        prepare: async (anvil) => {
          const honest = await deployHonest(anvil, { version, source });
          if (honest === undefined) return undefined;
          const moreSources = { [name]: '// No findings.\n' };
          return { address: honest.address, body: bodyOf({ version, source, moreSources }) };
        },
      };
    }),
  );
}

function plantedMetadata(): Forgery[] {
  const places: readonly (readonly [
    string,
    (metadata: Record<string, Record<string, unknown>>) => void,
  ])[] = [
    ['top', (metadata) => (metadata[MARK] = {})],
    ['settings', ({ settings }) => settings && (settings[MARK] = true)],
    ['compiler', ({ compiler }) => compiler && (compiler[MARK] = 'x')],
    ['devdoc', ({ output }) => output && (output['devdoc'] = { title: MARK })],
    ['sources', ({ sources }) => sources && (sources[`${MARK}.sol`] = { content: '//' })],
  ];
  return (['0.5.17', NEWEST] as const).flatMap((version) =>
    places.map(([name, edit], index): Forgery => {
      const source = plain(`m${index}`);
      return {
        id: `metadata ${version} ${name}`,
        kind: 'planted_metadata',
        planted: MARK,
        prepare: async (anvil) => {
          const honest = await deployHonest(anvil, { version, source });
          if (honest === undefined) return undefined;
          const metadata = JSON.parse(honest.compiled.metadata) as Parameters<typeof edit>[0];
          edit(metadata);
          const body = { metadata, sources: { 'a.sol': source } };
          return { address: honest.address, body, route: 'metadata' };
        },
      };
    }),
  );
}

function namedTransactions(): Forgery[] {
  const other = plain('t9');
  return (['0.4.26', '0.7.6', '0.8.20', NEWEST] as const).flatMap((version) =>
    (['replaced', 'stranger', 'call'] as const).map((trick, index): Forgery => {
      const source = plain(`t${index}`);
      return {
        id: `transaction ${version} ${trick}`,
        kind: 'named_transaction',
        prepare: async (anvil) => {
          const [made, stranger] = [
            await deployHonest(anvil, { version, source }),
            await deployHonest(anvil, { version, source: other }),
          ];
          if (made === undefined || stranger === undefined) return undefined;
          // The deployed bytecode is the forger's; the named transaction belongs to the submitted sources.
          const address = trick === 'replaced' ? made.address : stranger.address;
          await anvil.request('anvil_setCode', [address, '0x33ff']);
          const called = await anvil.send({ to: made.address, data: '0x' });
          const hash = trick === 'call' ? called.transactionHash : made.transactionHash;
          return { address, body: bodyOf({ version, source }, { creationTransactionHash: hash }) };
        },
      };
    }),
  );
}

/** Every forgery: all kinds with all their versions and settings. */
export function allForgeries(): readonly Forgery[] {
  return [
    ...constructorReturns(),
    ...mistypedImmutables(),
    ...badLibraries(),
    ...yulLiterals(),
    ...delegationDesignators(),
    ...plantedSettings(),
    ...plantedFiles(),
    ...plantedMetadata(),
    ...namedTransactions(),
  ];
}
