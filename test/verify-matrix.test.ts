import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { isAtLeast } from './support/bytecode/suite-source.ts';
import { constructorArguments } from './support/bytecode/simulated-deployment.ts';
import { SOLC_VERSIONS, type SolcVersion } from './support/compile-in-child.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { type WireJob } from './support/verification-client.ts';
import {
  bodyOfSample,
  deploySample,
  expectEvidence,
  inputOfTransaction,
  reasonsOf,
  startVerifyingService,
  suiteContract,
  type VerifyingService,
  type WireContract,
} from './support/verifying-service.ts';
import { versionsOfSuite } from './support/suite.ts';

const COMPILATION_TIMEOUT_MS = 300_000;
let verifying: VerifyingService;

/** A deployed contract of the suite. */
interface Deployed {
  readonly address: Hex;
  readonly transactionHash: Hex;
}

async function deployed(
  version: SolcVersion,
  name: string,
  libraries?: Readonly<Record<string, string>>,
): Promise<Deployed> {
  return deploySample(verifying.anvil, await suiteContract(version, name), libraries);
}

async function verify(
  version: SolcVersion,
  name: string,
  { address, transactionHash }: Deployed,
  edit?: (content: string) => string,
): Promise<WireJob> {
  const more = { creationTransactionHash: transactionHash };
  const sample = await suiteContract(version, name);
  return verifying.verify(address, bodyOfSample(sample, more, edit));
}

async function evidenceOf({ address, transactionHash }: Deployed): Promise<WireContract> {
  const creationCode = await inputOfTransaction(verifying.anvil, transactionHash);
  return expectEvidence(verifying, address, creationCode);
}

async function counts(): Promise<{ full_match: number; partial_match: number }> {
  const all = JSON.parse(await verifying.statistics()) as Record<
    string,
    { full_match: number; partial_match: number }
  >;
  return all[String(VERIFIED_CHAIN_ID)] ?? { full_match: 0, partial_match: 0 };
}

const both = (match: string): object => ({ runtimeMatch: match, creationMatch: match });

describeWith([ANVIL], 'verification across compilers', () => {
  beforeAll(async () => {
    verifying = await startVerifyingService();
  }, COMPILATION_TIMEOUT_MS);
  afterAll(() => verifying.close());

  describe.each(versionsOfSuite(SOLC_VERSIONS))(
    'solc %s',
    { timeout: COMPILATION_TIMEOUT_MS },
    (version) => {
      test('rejects other bytecode and stores nothing', async () => {
        const plain = await deployed(version, 'Plain');
        const before = await verifying.statistics();
        const job = await verify(version, 'Plain', plain, (content) =>
          content.replace('number = value;', 'number = value + 1;'),
        );
        expect(['no_match', 'bytecode_length_mismatch']).toContain(job.error?.customCode);
        expect(job.contract).toMatchObject({
          match: null,
          runtimeMatch: null,
          creationMatch: null,
        });
        expect((await verifying.contractAt(plain.address)).match).toBeNull();
        expect(await verifying.statistics()).toBe(before);
      });

      test('matches another comment in part by every auxdata, upgraded by the exact sources', async () => {
        const nest = await deployed(version, 'Nest');
        const before = await counts();
        const { full_match: full, partial_match: partial } = before;
        const changed = await verify(version, 'Nest', nest, (content) => `${content}// changed\n`);
        expect(changed.contract).toMatchObject(both('match'));
        const { runtimeBytecode, creationBytecode } = await evidenceOf(nest);
        const auxdatasOf = ({ transformationValues }: typeof runtimeBytecode): number =>
          Object.keys(transformationValues?.cborAuxdata ?? {}).length;
        expect([auxdatasOf(runtimeBytecode), auxdatasOf(creationBytecode)]).toEqual([2, 4]);
        await expect.poll(counts).toEqual({ full_match: full, partial_match: partial + 1 });
        const same = await verify(version, 'Nest', nest);
        expect(same.contract).toMatchObject(both('exact_match'));
        const raised = await evidenceOf(nest);
        expect(reasonsOf(raised.runtimeBytecode)).toEqual([]);
        expect(Object.keys(raised.runtimeBytecode.cborAuxdata ?? {})).toHaveLength(2);
        await expect.poll(counts).toEqual({ full_match: full + 1, partial_match: partial });
      });

      test('finds constructor arguments as the rest of the creation bytecode', async () => {
        const contract = await deployed(version, 'Arguments');
        const job = await verify(version, 'Arguments', contract);
        expect(job.contract).toMatchObject(both('exact_match'));
        const { creationBytecode } = await evidenceOf(contract);
        expect(reasonsOf(creationBytecode)).toEqual(['constructorArguments']);
        const given = constructorArguments(await suiteContract(version, 'Arguments'));
        expect(creationBytecode.transformationValues?.constructorArguments).toBe(
          `0x${given.toString('hex')}`,
        );
      });

      test('finds linked libraries at all placeholders', async () => {
        const [sums, products] = [
          await deployed(version, 'Sums'),
          await deployed(version, 'Products'),
        ];
        const linked = await deployed(version, 'Linked', {
          Sums: sums.address,
          Products: products.address,
        });
        const job = await verify(version, 'Linked', linked);
        expect(job.contract).toMatchObject(both('exact_match'));
        const { runtimeBytecode, creationBytecode } = await evidenceOf(linked);
        for (const code of [runtimeBytecode, creationBytecode]) {
          expect(reasonsOf(code)).toEqual(['library']);
          expect(code.transformationValues?.libraries).toEqual({
            'contracts/Suite.sol:Sums': sums.address,
            'contracts/Suite.sol:Products': products.address,
          });
        }
      });

      test.runIf(isAtLeast(version, '0.6.5'))('finds immutables at all references', async () => {
        const contract = await deployed(version, 'Immutables');
        const job = await verify(version, 'Immutables', contract);
        expect(job.contract).toMatchObject(both('exact_match'));
        const { runtimeBytecode } = await evidenceOf(contract);
        expect(reasonsOf(runtimeBytecode)).toEqual(['immutable']);
        const { immutables = {} } = runtimeBytecode.transformationValues ?? {};
        expect(Object.values(immutables)).toHaveLength(3);
        expect(Object.values(immutables)).toContain(`0x${(1000).toString(16).padStart(64, '0')}`);
      });
    },
  );
});
