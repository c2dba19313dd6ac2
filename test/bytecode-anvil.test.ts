import { AbiFunction } from 'ox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judgeContract, type ContractJudgement } from '../src/bytecode/judge-contract.ts';
import { type Hex } from '../src/lib/hex.ts';
import { findAnvil, NO_ANVIL, startAnvil, type Anvil } from './support/anvil.ts';
import {
  compileSuite,
  SUITE_VERSIONS,
  withChangedMetadata,
  type CompiledSample,
} from './support/bytecode/compiled-suite.ts';
import { constructorArguments, linkCode } from './support/bytecode/simulated-deployment.ts';

const CHAIN_ID = 424242;
const COMPILATION_TIMEOUT_MS = 600_000;

interface Trace {
  readonly type: string;
  readonly action: { readonly init?: string };
  readonly result?: { readonly address?: string; readonly code?: string } | null;
}

const bytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');
const hex = (code: Uint8Array): string => `0x${Buffer.from(code).toString('hex')}`;

let anvil: Anvil;

async function send(transaction: { to?: Hex; data: string }) {
  const receipt = await anvil.send({ gas: '0x1000000', ...transaction });
  if (receipt.status !== '0x1') throw new Error(`transaction ${receipt.transactionHash} failed`);
  return receipt;
}

const codeAt = async (address: string): Promise<Buffer> =>
  bytes(await anvil.request<string>('eth_getCode', [address, 'latest']));

/** Deploys a contract with a plain transaction. */
async function deploy(sample: CompiledSample, libraries: Readonly<Record<string, string>> = {}) {
  const code = linkCode(sample, 'creation', libraries);
  const creation = Buffer.concat([code, constructorArguments(sample)]);
  const { contractAddress } = await send({ data: hex(creation) });
  return { address: contractAddress ?? '0x', creation };
}

/** Calls a contract that creates another one and reads the init code from the trace. */
async function createBy(factory: Hex, call: string) {
  const { transactionHash } = await send({ to: factory, data: call });
  const traces = await anvil.request<Trace[]>('trace_transaction', [transactionHash]);
  const created = traces.find(({ type }) => type === 'create');
  return { address: created?.result?.address ?? '', creation: bytes(created?.action.init ?? '0x') };
}

async function judge(
  { recompiled, output }: CompiledSample,
  { address, creation }: { readonly address: string; readonly creation: Buffer },
): Promise<ContractJudgement> {
  return judgeContract({
    address,
    abi: output.abi,
    runtime: { recompiled: recompiled.runtime, onChain: await codeAt(address) },
    creation: { recompiled: recompiled.creation, onChain: creation },
  });
}

/** Returns the samples of a version and settings by contract name. */
async function samplesOf(version: (typeof SUITE_VERSIONS)[number], variant: string) {
  const samples = (await compileSuite(version)).filter((sample) => sample.variant === variant);
  return (name: string): CompiledSample => {
    const found = samples.find((sample) => sample.name === name);
    if (found === undefined) throw new Error(`no ${variant} ${name} of ${version}`);
    return found;
  };
}

interface Setting {
  readonly version: (typeof SUITE_VERSIONS)[number];
  readonly variant: string;
}

const SETTINGS: readonly Setting[] = [
  ...SUITE_VERSIONS.map((version) => ({ version, variant: 'optimized' })),
  { version: '0.8.20', variant: 'ir' },
  { version: '0.8.37', variant: 'ir' },
];
const SETTINGS_WITH_IMMUTABLES = SETTINGS.filter(({ version }) => !/^0\.[45]\./.test(version));

const isHere = findAnvil() !== undefined;

describe.skipIf(!isHere)(isHere ? 'contracts on an EVM node' : NO_ANVIL, () => {
  beforeAll(async () => {
    anvil = await startAnvil({ chainId: CHAIN_ID });
  });
  afterAll(() => anvil.stop());

  describe.each(SETTINGS)(
    'runtime and creation bytecode of $version $variant',
    { timeout: COMPILATION_TIMEOUT_MS },
    ({ version, variant }) => {
      test.each(['Plain', 'Arguments', 'Child', 'Maker', 'Nest'])(
        'matches in full: %s',
        async (name) => {
          const sample = (await samplesOf(version, variant))(name);
          expect(await judge(sample, await deploy(sample))).toMatchObject({
            runtimeMatch: 'full',
            creationMatch: 'full',
          });
        },
      );

      test('matches in full: libraries and a contract that links them', async () => {
        const sample = await samplesOf(version, variant);
        const [sums, products] = [await deploy(sample('Sums')), await deploy(sample('Products'))];
        for (const [name, deployment] of [
          ['Sums', sums],
          ['Products', products],
        ] as const) {
          expect(await judge(sample(name), deployment), name).toMatchObject({
            runtimeMatch: 'full',
            creationMatch: 'full',
          });
        }
        const addresses = { Sums: sums.address, Products: products.address };
        const linked = await deploy(sample('Linked'), addresses);
        const judgement = await judge(sample('Linked'), linked);
        expect(judgement).toMatchObject({ runtimeMatch: 'full', creationMatch: 'full' });
        expect(judgement.runtime).toMatchObject({
          values: {
            libraries: {
              'contracts/Suite.sol:Sums': sums.address,
              'contracts/Suite.sol:Products': products.address,
            },
          },
        });
      });

      test('matches in full: a contract created by another one', async () => {
        const sample = await samplesOf(version, variant);
        const maker = await deploy(sample('Maker'));
        const make = AbiFunction.from('function make(uint256 n)');
        const child = await createBy(maker.address, AbiFunction.encodeData(make, [77n]));
        expect(await judge(sample('Child'), child)).toMatchObject({
          runtimeMatch: 'full',
          creationMatch: 'full',
          creation: {
            values: { constructorArguments: `0x${(77).toString(16).padStart(64, '0')}` },
          },
        });
      });

      test('matches in part: a contract with a changed comment', async () => {
        const sample = (await samplesOf(version, variant))('Nest');
        expect(await judge(sample, await deploy(withChangedMetadata(sample)))).toMatchObject({
          runtimeMatch: 'partial',
          creationMatch: 'partial',
        });
      });

      test('does not match another contract', async () => {
        const sample = await samplesOf(version, variant);
        expect((await judge(sample('Plain'), await deploy(sample('Child')))).match).toBeNull();
      });
    },
  );

  describe.each(SETTINGS_WITH_IMMUTABLES)(
    'newer language features of $version $variant',
    { timeout: COMPILATION_TIMEOUT_MS },
    ({ version, variant }) => {
      test('matches in full: immutables, with the values set by the constructor', async () => {
        const sample = (await samplesOf(version, variant))('Immutables');
        const judgement = await judge(sample, await deploy(sample));
        expect(judgement).toMatchObject({ runtimeMatch: 'full', creationMatch: 'full' });
        const { values = {} } = judgement.runtime?.match ? judgement.runtime : {};
        expect(Object.values(values.immutables ?? {}).sort()).toEqual(
          [
            `0x${(1000).toString(16).padStart(64, '0')}`,
            `0x${'a11ce'.padStart(64, '0')}`,
            `0x${'feedbeef'.padEnd(64, '0')}`,
          ].sort(),
        );
      });

      test('matches in full: a contract created with create2', async () => {
        const sample = await samplesOf(version, variant);
        const salted = await deploy(sample('Salted'));
        const make = AbiFunction.from('function make(bytes32 salt, uint256 n)');
        const salt = `0x${'ab'.repeat(32)}` as const;
        const child = await createBy(salted.address, AbiFunction.encodeData(make, [salt, 3n]));
        expect(await judge(sample('Child'), child)).toMatchObject({
          runtimeMatch: 'full',
          creationMatch: 'full',
        });
      });
    },
  );

  describe.each(['hashless', 'cborless', 'yul'])('settings %s', (variant) => {
    test('allow a partial match at best', { timeout: COMPILATION_TIMEOUT_MS }, async () => {
      const sample = (await samplesOf('0.8.37', variant))(variant === 'yul' ? 'Echo' : 'Plain');
      expect(await judge(sample, await deploy(sample))).toMatchObject({
        runtimeMatch: 'partial',
        creationMatch: 'partial',
      });
    });
  });
});
