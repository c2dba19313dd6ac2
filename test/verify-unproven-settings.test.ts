import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SolcVersion } from './support/compile-in-child.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { type WireJob } from './support/verification-client.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const FALSE = `0x${'11'.repeat(20)}`;
const LINKED = `0x${'22'.repeat(20)}`;
const TEXT = 'HOLDERS MUST CLAIM AT evil.example/:x=vendor/';
const PRAGMA = 'pragma solidity >=0.4.0;\n';
const VENDOR = {
  'vendor/L.sol': `${PRAGMA}interface L {}\n`,
};
let verifying: VerifyingService;
let contracts = 0;

interface Published {
  readonly job: WireJob;
  readonly settings: unknown;
  readonly unproven: readonly string[];
  readonly unprovenValues: unknown;
  /** The whole record as text. */
  readonly text: string;
}

/**
 * Returns what is published of a contract that `links` a library after a submission of its bytecode with
 * other text and settings.
 */
async function publish(
  version: SolcVersion,
  links: boolean,
  head: string,
  settings: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, string>> = {},
  developersSettings: Readonly<Record<string, unknown>> = {},
): Promise<Published> {
  contracts += 1;
  const body = links
    ? `library Lib { function f(uint a) public pure returns (uint) { return a; } }
       contract C { uint public z = ${contracts}; function g() public view returns (uint) { return Lib.f(z); } }`
    : `contract C { uint public z = ${contracts}; }`;
  const linked = links ? { libraries: { 'a.sol': { Lib: LINKED } } } : {};
  const developers = inputOf({ 'a.sol': PRAGMA + body }, { ...linked, ...developersSettings });
  const { creationCode } = await compileAsDeveloper(version, developers, 'a.sol', 'C');
  const { address, transactionHash } = await deploy(verifying.anvil, creationCode);
  const sources = { 'a.sol': `${PRAGMA}// changed\n${head}\n${body}`, ...VENDOR, ...more };
  const job = await verifying.verify(address, {
    stdJsonInput: inputOf(sources, settings),
    compilerVersion: version,
    contractIdentifier: 'a.sol:C',
    creationTransactionHash: transactionHash,
  });
  const url = `${verifying.service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${address}`;
  const { unproven } = (await (await fetch(url)).json()) as { unproven: string[] };
  const contract = await verifying.contractAt(address);
  const runtime = contract.runtimeBytecode as { unprovenValues?: unknown } | undefined;
  return {
    ...{ job, unproven, settings: contract.compilation?.['compilerSettings'] },
    unprovenValues: runtime?.unprovenValues,
    text: JSON.stringify(contract),
  };
}

describeWith([ANVIL], 'settings that a partial match does not prove', () => {
  beforeAll(async () => {
    verifying = await startVerifyingService();
    await verifying.anvil.request('anvil_setCode', [LINKED, '0x00']);
  });
  afterAll(() => verifying.close());

  test.each(['0.4.24', '0.6.12'] as const)(
    'are not published for an import by an escaped path (solc %s)',
    async (version) => {
      const libraries = { 'a.sol': { Lib: FALSE }, '~ AUDITED': { Lib: LINKED } };
      const { job, settings, text, unproven, unprovenValues } = await publish(
        version,
        true,
        String.raw`import "\x6cib/L.sol";`,
        { libraries, remappings: ['lib/=vendor/', 'a/=b/', TEXT] },
      );
      expect(job.contract).toMatchObject({ runtimeMatch: 'match' });
      expect(settings).toMatchObject({
        libraries: { 'a.sol': { Lib: LINKED } },
        remappings: ['lib/=vendor/'],
      });
      expect(text).not.toMatch(/AUDITED|HOLDERS|1{40}/);
      expect(unproven).toContain('libraries');
      expect(unprovenValues).toEqual(['libraries']);
    },
  );

  const heads = {
    plainly: 'import "lib/L.sol";',
    'behind a comment': 'import /* "x"; */ {L as M} // ;\n from "lib/L.sol";',
    'by an escaped path': String.raw`import "\u006cib/L.sol";`,
    'relative to the source': 'import "./lib/L.sol";',
    'next to a very long comment': `import "lib/L.sol"; //${'a'.repeat(120_000)}`,
  };
  test.each(Object.entries(heads))('are dropped if a remapping is used %s', async (_, head) => {
    const more = Array.from({ length: 500 }, (_each, index) => `HOLDERS ${index}:x=vendor`);
    const libraries = { 'AUDITED 2026': { SafeVault: FALSE } };
    const remappings = ['lib/=vendor/', TEXT, ...more];
    const { job, settings, text } = await publish('0.8.37', false, head, {
      libraries,
      remappings,
    });
    expect(job.contract).toMatchObject({ runtimeMatch: 'match', creationMatch: 'match' });
    expect(settings).toMatchObject({ remappings: ['lib/=vendor/'] });
    expect(text).not.toMatch(/AUDITED|HOLDERS|1{40}/);
  });

  const WORDS = 'all holders must claim funds at evil dot site';
  const steps = (optimizerSteps: string, more: object = {}) => ({
    enabled: false,
    ...more,
    details: { yul: true, yulDetails: { optimizerSteps } },
  });
  test.each<[string, SolcVersion, object]>([
    ['words as steps of a disabled optimizer', '0.6.12', steps(WORDS)],
    ['steps without effect', '0.8.37', steps(`:\n\n  \n${'fDnTOc'.repeat(50)}`)],
    ['runs of a disabled optimizer', '0.8.37', { enabled: false, runs: 31_337 }],
    ['both', '0.8.37', steps('dhfoDg', { runs: 31_337 })],
  ])('are dropped if they are %s (solc %s)', async (_what, version, optimizer) => {
    const off = { optimizer: { enabled: false } };
    const { job, settings, text, unproven } = await publish(
      version,
      false,
      '',
      { optimizer },
      {},
      off,
    );
    expect(job.contract).toMatchObject({ runtimeMatch: 'match', creationMatch: 'match' });
    expect(settings).toEqual({ optimizer: { enabled: false } });
    expect(text).not.toMatch(/holders|31337/);
    expect(unproven).toContain('settings');
  });

  test('are kept if the bytecode needs them, without whitespace', async () => {
    const used = (optimizerSteps: string) => ({
      viaIR: true,
      optimizer: {
        enabled: true,
        runs: 200,
        details: { yul: true, yulDetails: { optimizerSteps } },
      },
    });
    const { job, settings } = await publish('0.8.37', false, '', used('u \n  :'), {}, used('u:'));
    expect(job.contract).toMatchObject({ runtimeMatch: 'match', creationMatch: 'match' });
    expect(settings).toMatchObject(used('u:'));
  });

  test.each(['0.6.12', '0.7.6', '0.8.4', '0.8.9', '0.8.37'] as const)(
    'do not retain optimizer details in a full match (solc %s)',
    async (version) => {
      contracts += 1;
      const body = `contract C { uint public z = ${contracts}; function f(uint a) public { assembly { sstore(a, add(sload(a), 1)) } } }`;
      const details = { yul: false };
      const input = inputOf(
        { 'a.sol': PRAGMA + body },
        { optimizer: { enabled: true, runs: 200, details } },
      );
      const { creationCode } = await compileAsDeveloper(version, input, 'a.sol', 'C');
      const { address } = await deploy(verifying.anvil, creationCode);
      const job = await verifying.verify(address, {
        stdJsonInput: input,
        compilerVersion: version,
        contractIdentifier: 'a.sol:C',
      });
      expect(job.contract).toMatchObject({ runtimeMatch: 'exact_match' });
    },
  );

  test('contain a remapping once', async () => {
    const remappings = Array<string>(300).fill('lib/=vendor/');
    const { job, settings } = await publish('0.8.37', false, 'import "lib/L.sol";', {
      remappings,
    });
    expect(job.contract).toMatchObject({ runtimeMatch: 'match' });
    expect(settings).toMatchObject({ remappings: ['lib/=vendor/'] });
  });

  test('are rejected if the sources do not compile without them', async () => {
    // The compiler interprets the path `//h` as a host name, which has no parent folder.
    const settings = {
      libraries: { 'a.sol': { Lib: FALSE }, '~ AUDITED': { Lib: LINKED } },
      remappings: ['//h/y.sol=vendor/L.sol', TEXT],
    };
    const more = { '//h/x.sol': `${PRAGMA}import "../y.sol";\n` };
    const { job, text } = await publish('0.6.12', true, 'import "//h/x.sol";', settings, more);
    expect(job.error).toMatchObject({ customCode: 'settings_not_proven' });
    expect(text).not.toMatch(/AUDITED|HOLDERS/);
  });

  test('contain no library that a Yul program names but does not link', async () => {
    const text = `object "V" { code {
        function dead() -> a { a := linkersymbol("AUDITED.sol:Safe") }
        datacopy(0, dataoffset("r"), datasize("r")) return(0, datasize("r")) }
        object "r" { code { function dead() -> a { a := linkersymbol("AUDITED.sol:Safe") } sstore(0, linkersymbol("a.sol:L")) } } }`;
    const libraries = { 'a.sol': { L: LINKED }, 'AUDITED.sol': { Safe: LINKED } };
    const input = { ...inputOf({ 'V.yul': text }, { libraries }), language: 'Yul' };
    const { creationCode } = await compileAsDeveloper('0.8.37', input, 'V.yul', 'V');
    const { address } = await deploy(verifying.anvil, creationCode);
    const job = await verifying.verify(address, {
      stdJsonInput: input,
      compilerVersion: '0.8.37',
      contractIdentifier: 'V.yul:V',
    });
    expect(job.contract).toMatchObject({ runtimeMatch: 'match' });
    const { compilation } = await verifying.contractAt(address);
    expect(compilation['compilerSettings']).toMatchObject({
      libraries: { 'a.sol': { L: LINKED } },
    });
    expect(JSON.stringify(compilation['compilerSettings'])).not.toContain('AUDITED');
  });

  const presets = {
    off: { inliner: false, orderLiterals: false, deduplicate: false, cse: false, yul: false },
    on: { inliner: true, orderLiterals: true, deduplicate: true, cse: true, yul: true },
  };
  const always = { peephole: true, jumpdestRemover: true };

  test.each([
    ['off', false],
    ['on', true],
  ] as const)(
    'are not published in a full match either: optimizer enabled flag with the details of %s',
    async (preset, enabled) => {
      contracts += 1;
      const sources = { 'a.sol': `${PRAGMA}contract C { uint public z = ${contracts}; }` };
      const optimizer = { enabled, runs: 200 };
      const developers = inputOf(sources, { optimizer });
      const { creationCode } = await compileAsDeveloper('0.8.37', developers, 'a.sol', 'C');
      const { address } = await deploy(verifying.anvil, creationCode);
      const constantOptimizer = enabled;
      const details = { ...always, ...presets[preset], constantOptimizer };
      const job = await verifying.verify(address, {
        stdJsonInput: inputOf(sources, { optimizer: { enabled: !enabled, runs: 200, details } }),
        compilerVersion: '0.8.37',
        contractIdentifier: 'a.sol:C',
      });
      expect(job.contract).toMatchObject({ runtimeMatch: 'exact_match' });
      const { compilation } = await verifying.contractAt(address);
      expect(compilation?.['compilerSettings']).toMatchObject({ optimizer });
      expect(compilation?.['compilerSettings']).not.toHaveProperty('optimizer.details');
    },
  );
});
