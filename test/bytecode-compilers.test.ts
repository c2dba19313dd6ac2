import { describe, expect, test } from 'vitest';
import { auxdataReaderOf } from '../src/bytecode/auxdata-reader.ts';
import { judgeContract, type ContractJudgement } from '../src/bytecode/judge-contract.ts';
import { matchRuntimeCode } from '../src/bytecode/match-code.ts';
import { toCodeTemplate, type CodeTemplate } from '../src/bytecode/recompiled-code.ts';
import { replayTransformations } from '../src/bytecode/transformation.ts';
import {
  compileSuite,
  withChangedMetadata,
  type CompiledSample,
} from './support/bytecode/compiled-suite.ts';
import { isAtLeast } from './support/bytecode/suite-source.ts';
import { simulateDeployment, type OnChainCodes } from './support/bytecode/simulated-deployment.ts';
import { SOLC_VERSIONS } from './support/compile-in-child.ts';

const COMPILATION_TIMEOUT_MS = 600_000;
const HASHLESS: readonly string[] = ['hashless', 'cborless', 'yul'];

function judge({ recompiled, output }: CompiledSample, onChain: OnChainCodes): ContractJudgement {
  return judgeContract({
    address: onChain.address,
    abi: output.abi,
    runtime: { recompiled: recompiled.runtime, onChain: onChain.runtime },
    creation: { recompiled: recompiled.creation, onChain: onChain.creation },
  });
}

function auxdataIn(judgement: ContractJudgement, which: 'runtime' | 'creation'): string[] {
  const verdict = judgement[which];
  return verdict?.match ? Object.keys(verdict.values.cborAuxdata ?? {}) : [];
}

describe.each(SOLC_VERSIONS)(
  'contracts compiled by solc %s',
  { timeout: COMPILATION_TIMEOUT_MS },
  (version) => {
    test('match in full as deployed, and at best in part without a metadata hash', async () => {
      for (const sample of await compileSuite(version)) {
        const judgement = judge(sample, simulateDeployment(sample));
        const match = HASHLESS.includes(sample.variant) ? 'partial' : 'full';
        expect(judgement, sample.id).toMatchObject({ runtimeMatch: match, creationMatch: match });
      }
    });

    test('match in part after a changed comment, and only the auxdata differs', async () => {
      for (const sample of await compileSuite(version)) {
        const judgement = judge(sample, simulateDeployment(withChangedMetadata(sample)));
        expect(judgement, sample.id).toMatchObject({
          runtimeMatch: 'partial',
          creationMatch: 'partial',
        });
        if (HASHLESS.includes(sample.variant)) continue;
        const { runtime, creation } = sample.recompiled;
        expect(auxdataIn(judgement, 'runtime'), sample.id).toEqual(Object.keys(runtime.auxdata));
        expect(auxdataIn(judgement, 'creation'), sample.id).toEqual(Object.keys(creation.auxdata));
      }
    });

    test('match with transformations that reproduce the on-chain bytecode', async () => {
      for (const sample of await compileSuite(version)) {
        const onChain = simulateDeployment(withChangedMetadata(sample));
        const judgement = judge(sample, onChain);
        for (const which of ['runtime', 'creation'] as const) {
          const verdict = judgement[which];
          if (!verdict || verdict.match === null) throw new Error(`no match: ${sample.id}`);
          const { bytes } = toCodeTemplate(sample.recompiled[which]);
          const replayed = replayTransformations(bytes, verdict.transformations, verdict.values);
          expect(replayed.equals(onChain[which]), sample.id).toBe(true);
        }
      }
    });

    test('have auxdata exactly where a metadata change shows it', async () => {
      for (const sample of await compileSuite(version)) {
        expect(sample.reading.state, sample.id).toBe('located');
        const { runtime, creation } = sample.recompiled;
        const contained = { Maker: 1, Salted: 1, Nest: 1 }[sample.name] ?? 0;
        const created = { Maker: 1, Salted: 1, Nest: 3 }[sample.name] ?? 0;
        const hasHash = !HASHLESS.includes(sample.variant);
        if (hasHash) {
          expect(Object.keys(runtime.auxdata), sample.id).toHaveLength(1 + contained);
          expect(Object.keys(creation.auxdata), sample.id).toHaveLength(1 + created);
        }
        const both = auxdataReaderOf(sample.input.language).read(sample.output, sample.edited);
        if (hasHash) expect(both, sample.id).toEqual(sample.reading);
        else expect(both, sample.id).toEqual({ state: 'located', runtime: {}, creation: {} });
      }
    });

    test('have call protection in libraries from 0.4.20 on', async () => {
      for (const sample of await compileSuite(version)) {
        if (sample.name !== 'Sums') continue;
        const { runtime } = judge(sample, simulateDeployment(sample));
        const reasons = runtime?.match ? runtime.transformations.map(({ reason }) => reason) : [];
        const expected = !isAtLeast(version, '0.4.20')
          ? []
          : [sample.variant === 'ir' ? 'immutable' : 'callProtection'];
        expect(reasons, sample.id).toEqual(expected);
      }
    });
  },
);

/** Returns the bytes of runtime bytecode that may vary: metadata hashes, and values with a single reference. */
function freeBytes({ libraries, immutables, auxdata }: CodeTemplate): Set<number> {
  const free = new Set<number>();
  const add = (start: number, length: number): void => {
    for (let offset = start; offset < start + length; offset += 1) free.add(offset);
  };
  for (const { starts } of libraries) if (starts.length === 1) add(starts[0] ?? 0, 20);
  for (const { id, starts, length } of immutables) {
    if (starts.length === 1 && id !== 'library_deploy_address') add(starts[0] ?? 0, length);
  }
  for (const { hashOffset } of auxdata) if (hashOffset !== undefined) add(hashOffset, 32);
  return free;
}

/** Flips every byte once, each with a different pattern, and returns the offsets that still match. */
function survivors(sample: CompiledSample, onChain: OnChainCodes): number[] {
  const recompiled = toCodeTemplate(sample.recompiled.runtime);
  const code = Buffer.from(onChain.runtime);
  const survived: number[] = [];
  for (let offset = 0; offset < code.length; offset += 1) {
    const was = code[offset] ?? 0;
    code[offset] = was ^ ((offset % 255) + 1);
    const verdict = matchRuntimeCode({ recompiled, onChain: code, address: onChain.address });
    if (verdict.match !== null) survived.push(offset);
    code[offset] = was;
  }
  return survived;
}

describe('a flipped byte', () => {
  test(
    'outside metadata hashes and single-reference values breaks the match, at every offset',
    { timeout: COMPILATION_TIMEOUT_MS },
    async () => {
      let codes = 0;
      for (const version of SOLC_VERSIONS) {
        for (const sample of await compileSuite(version)) {
          const free = freeBytes(toCodeTemplate(sample.recompiled.runtime));
          const survived = survivors(sample, simulateDeployment(sample));
          expect(survived, sample.id).toEqual([...free].sort((left, right) => left - right));
          codes += 1;
        }
      }
      expect(codes).toBeGreaterThan(300);
    },
  );
});
