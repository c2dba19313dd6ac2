import { judgeContract } from '../../../src/bytecode/judge-contract.ts';
import {
  compileSuite,
  withChangedMetadata,
  type CompiledSample,
} from '../bytecode/compiled-suite.ts';
import { simulateDeployment } from '../bytecode/simulated-deployment.ts';
import { type SolcVersion } from '../compile-in-child.ts';
import { SeededRandom } from '../fuzz/seeded-random.ts';
import { MUTATIONS, type Places } from './mutate.ts';
import { consultOracle, saysMore, type ClaimedCodes, type OracleVerdict } from './oracle.ts';

/** A mutant that got a better verdict than is correct. */
export interface FalseMatch {
  readonly index: number;
  readonly sample: string;
  readonly kinds: readonly string[];
  readonly said: OracleVerdict;
  readonly atMost: OracleVerdict;
}

export interface MutantReport {
  readonly mutants: number;
  /**
   * Number of mutants per match level that the oracle still permits: those that differ only where bytecode
   * may vary.
   */
  readonly levels: Readonly<Record<string, number>>;
  readonly falseMatches: readonly FalseMatch[];
  /** Mutants with a worse verdict than the oracle permits; a finding, but not a false match. */
  readonly missed: number;
}

/** Values that the constructor of the suite's contract assigns to its immutables, in declaration order. */
const IMMUTABLE_VALUES = [
  (1000).toString(16).padStart(64, '0'),
  'a11ce'.padStart(64, '0'),
  'feedbeef'.padEnd(64, '0'),
].map((hex) => Buffer.from(hex, 'hex'));

interface Base {
  readonly sample: CompiledSample;
  readonly codes: ClaimedCodes;
  readonly places: Readonly<Record<'runtime' | 'creation', Places['values']>>;
}

function placesOf(
  { output }: CompiledSample,
  which: 'bytecode' | 'deployedBytecode',
): Places['values'] {
  const { linkReferences = {}, immutableReferences = {} } = output.evm[which];
  const startsOf = (references: readonly { readonly start: number }[]): readonly number[] =>
    references.map(({ start }) => start);
  return [
    ...Object.values(linkReferences)
      .flatMap((names) => Object.values(names))
      .map((references) => ({ starts: startsOf(references), length: 20 })),
    ...Object.values(immutableReferences).map((references) => ({
      starts: startsOf(references),
      length: 32,
    })),
  ];
}

function toBase(sample: CompiledSample, other: boolean): Base {
  const { address, runtime, creation } = simulateDeployment(
    other ? withChangedMetadata(sample) : sample,
  );
  const references = sample.output.evm.deployedBytecode.immutableReferences ?? {};
  const ids = Object.keys(references)
    .filter((id) => id !== 'library_deploy_address')
    .sort((left, right) => Number(left) - Number(right));
  for (const [order, id] of ids.entries()) {
    for (const { start } of references[id] ?? []) IMMUTABLE_VALUES[order]?.copy(runtime, start);
  }
  const places = {
    runtime: placesOf(sample, 'deployedBytecode'),
    creation: placesOf(sample, 'bytecode'),
  };
  return { sample, codes: { address, runtime, creation }, places };
}

/** Whether the matcher gets the types of immutables. */
const isTyped = ({ recompiled }: CompiledSample): boolean =>
  Object.keys(recompiled.runtime).some((key) => /type/i.test(key));

function mutate(random: SeededRandom, base: Base, other: Base) {
  const kinds: string[] = [];
  const names = Object.keys(MUTATIONS);
  const codes = { runtime: base.codes.runtime, creation: base.codes.creation };
  for (let count = random.chance(0.8) ? 1 : 2; count > 0; count -= 1) {
    const which = random.chance(0.6) ? 'runtime' : 'creation';
    const kind = random.pick(names) ?? 'flip';
    kinds.push(`${which} ${kind}`);
    const places = { values: base.places[which], other: other.codes[which] };
    codes[which] = MUTATIONS[kind]?.(random, codes[which], places) ?? codes[which];
  }
  return { kinds, claimed: { address: base.codes.address, ...codes } };
}

function judge(
  sample: CompiledSample,
  { address, runtime, creation }: ClaimedCodes,
): OracleVerdict {
  const { match, runtimeMatch, creationMatch } = judgeContract({
    address,
    abi: sample.output.abi,
    runtime: { recompiled: sample.recompiled.runtime, onChain: runtime },
    creation: { recompiled: sample.recompiled.creation, onChain: creation },
  });
  return { match, runtimeMatch, creationMatch };
}

/** Changes bytes of deployed contracts and compares every verdict with what an oracle permits. */
export async function runMutants(options: {
  readonly versions: readonly SolcVersion[];
  readonly mutants: number;
  readonly seed: number;
}): Promise<MutantReport> {
  const { versions, mutants, seed } = options;
  const samples: CompiledSample[] = [];
  for (const version of versions) samples.push(...(await compileSuite(version)));
  const bases = samples
    .filter(({ output }) => output.evm.deployedBytecode.object.length > 0)
    .flatMap((sample) => [toBase(sample, false), toBase(sample, true)]);
  const levels: Record<string, number> = {};
  const falseMatches: FalseMatch[] = [];
  let missed = 0;
  for (let index = 0; index < mutants; index += 1) {
    const random = new SeededRandom(seed, index);
    const [base, other] = [random.pick(bases), random.pick(bases)];
    if (base === undefined || other === undefined) throw new Error('nothing was compiled');
    const { kinds, claimed } = mutate(random, base, other);
    const { sample } = base;
    const atMost = consultOracle(sample, claimed, isTyped(sample));
    const said = judge(sample, claimed);
    levels[atMost.match ?? 'none'] = (levels[atMost.match ?? 'none'] ?? 0) + 1;
    const fields = ['match', 'runtimeMatch', 'creationMatch'] as const;
    if (fields.some((field) => saysMore(said[field], atMost[field]))) {
      falseMatches.push({ index, sample: sample.id, kinds, said, atMost });
    } else if (fields.some((field) => saysMore(atMost[field], said[field]))) missed += 1;
  }
  return { mutants, levels, falseMatches, missed };
}
