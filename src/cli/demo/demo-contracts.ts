import {
  ballotSource,
  FACTORY_SOURCE,
  LIBRARY_SOURCE,
  LINKING_SOURCE,
  PROXY_SOURCE,
  registrySource,
  tokenSource,
  vaultSource,
} from './demo-sources.ts';

/** Constructor argument: a number, or the address of a previously deployed contract. */
export type DemoArgument = bigint | { readonly addressOf: string };

/** A demo contract: how it is deployed, and the sources it is verified with. */
export interface DemoContract {
  /** Unique name by which other contracts refer to it. */
  readonly key: string;
  readonly kind: 'token' | 'contract' | 'library' | 'linked' | 'factory' | 'child' | 'proxy';
  /** Path → content, as compiled for the deployment. */
  readonly sources: Readonly<Record<string, string>>;
  readonly path: string;
  readonly name: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly arguments: readonly DemoArgument[];
  /** Previously deployed libraries, by their names in `path`. */
  readonly libraries: Readonly<Record<string, string>>;
  readonly librariesPath?: string;
  /** Set if a call to another contract creates it and an event reports its address. */
  readonly madeBy?: { readonly factory: string; readonly call: string };
  /** Verified with comments that differ from the deployed sources, so the match is partial. */
  readonly otherComments: boolean;
  /** Reason for which it is withdrawn after its verification. */
  readonly withdrawn?: string;
}

const OPTIMIZED = { optimizer: { enabled: true, runs: 200 } };
const PLAIN = { optimizer: { enabled: false } };
const MANY_RUNS = { optimizer: { enabled: true, runs: 1_000_000 } };
const BY_YUL = { optimizer: { enabled: true, runs: 200 }, viaIR: true };

function contract(
  fields: Pick<DemoContract, 'key' | 'sources' | 'path' | 'name'> & Partial<DemoContract>,
): DemoContract {
  return {
    kind: 'contract',
    settings: OPTIMIZED,
    arguments: [],
    libraries: {},
    otherComments: false,
    ...fields,
  };
}

/** Creates a contract with one source file, named after it. */
function single(name: string, content: string, more: Partial<DemoContract> = {}): DemoContract {
  const path = `contracts/${name}.sol`;
  return contract({ key: name, sources: { [path]: content }, path, name, ...more });
}

const METALS = ['Copper', 'Silver', 'Tin', 'Zinc', 'Nickel', 'Cobalt', 'Iron', 'Titanium'];
const TREES = 'Birch Maple Cedar Alder Rowan Hazel Aspen Larch Willow Juniper'.split(' ');
const SETTINGS = [OPTIMIZED, PLAIN, MANY_RUNS, BY_YUL];

const tokens = [...METALS, ...TREES].map((word, index) => {
  const symbol = word.slice(0, 4).toUpperCase();
  return single(`${word}Token`, tokenSource(`${word}Token`, symbol, 1_000 * (index + 1)), {
    kind: 'token',
    settings: SETTINGS[index % SETTINGS.length] ?? OPTIMIZED,
    otherComments: index % 4 === 3,
  });
});

const vaults = [7, 30, 90, 180, 365].map((days, index) =>
  single(`Vault${days}Days`, vaultSource(`Vault${days}Days`, days), {
    arguments: [1_700_000_000n],
    otherComments: index === 4,
  }),
);

const ballots = ['Board', 'Harbour', 'Library', 'Village', 'Orchestra'].map((word, index) =>
  single(`${word}Ballot`, ballotSource(`${word}Ballot`, index + 2), {
    settings: SETTINGS[index % SETTINGS.length] ?? OPTIMIZED,
    otherComments: index === 1 || index === 3,
  }),
);

const registries = ['Ship', 'Star', 'River'].map((word, index) =>
  single(`${word}Names`, registrySource(`${word}Names`, 10 * (index + 1)), {
    otherComments: index === 2,
  }),
);

/** The same bytecode at several addresses. */
const copies = [1, 2, 3].map((number) => ({
  ...single('ShipNames', registrySource('ShipNames', 10)),
  key: `ShipNames again ${number}`,
}));

const LIBRARIES_PATH = 'contracts/Libraries.sol';
const LINKED_PATH = 'contracts/Linked.sol';

const libraries = ['SumLib', 'RootLib'].map((name) =>
  contract({
    key: name,
    kind: 'library',
    sources: { [LIBRARIES_PATH]: LIBRARY_SOURCE },
    path: LIBRARIES_PATH,
    name,
  }),
);
const linked = (
  [
    ['Statistics', 'SumLib'],
    ['Vectors', 'RootLib'],
  ] as const
).map(([name, library]) =>
  contract({
    key: name,
    kind: 'linked',
    sources: { [LIBRARIES_PATH]: LIBRARY_SOURCE, [LINKED_PATH]: LINKING_SOURCE },
    path: LINKED_PATH,
    name,
    libraries: { [library]: library },
    librariesPath: LIBRARIES_PATH,
  }),
);

const BOXES = { sources: { 'contracts/Boxes.sol': FACTORY_SOURCE }, path: 'contracts/Boxes.sol' };
const factory = contract({ key: 'BoxFactory', kind: 'factory', name: 'BoxFactory', ...BOXES });
const boxes = ['make()', 'make()', 'make()', 'makeAt(bytes32)', 'makeAt(bytes32)'].map(
  (call, index) =>
    contract({
      key: `Box ${index}`,
      kind: 'child',
      name: 'Box',
      ...BOXES,
      madeBy: { factory: 'BoxFactory', call },
      otherComments: index === 2,
    }),
);

const COUNTERS = {
  sources: { 'contracts/Counters.sol': PROXY_SOURCE },
  path: 'contracts/Counters.sol',
};
const implementations = ['CounterV1', 'CounterV2'].map((name) =>
  contract({ key: name, name, ...COUNTERS }),
);
const proxies = ['CounterV1', 'CounterV2', 'CounterV2'].map((implementation, index) =>
  contract({
    key: `Proxy ${index}`,
    kind: 'proxy',
    name: 'Proxy',
    ...COUNTERS,
    arguments: [{ addressOf: implementation }],
    settings: index === 2 ? MANY_RUNS : OPTIMIZED,
  }),
);

const withdrawn = single('LeakyToken', tokenSource('LeakyToken', 'LEAK', 1), {
  kind: 'token',
  withdrawn: 'demonstration: what a withdrawn match looks like',
});

/** All demo contracts in the order of their deployment; the withdrawn one comes last. */
export const DEMO_CONTRACTS: readonly DemoContract[] = [
  ...tokens,
  ...vaults,
  ...ballots,
  ...registries,
  ...copies,
  ...libraries,
  ...linked,
  factory,
  ...boxes,
  ...implementations,
  ...proxies,
  withdrawn,
];
