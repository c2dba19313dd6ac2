import { describe, expect, test } from 'vitest';
import { judgeContract } from '../src/bytecode/judge-contract.ts';
import { toCodeTemplate } from '../src/bytecode/recompiled-code.ts';
import { replayTransformations } from '../src/bytecode/transformation.ts';
import { attackCases, forge, sampleOf } from './support/bytecode/attack-cases.ts';

describe('tampered on-chain bytecode', () => {
  test.each(attackCases())(
    '$name ($version $variant $contract)',
    { timeout: 300_000 },
    async (attack) => {
      const sample = await sampleOf(attack);
      const { address, runtime, creation } = forge(attack, sample);
      const { recompiled } = sample;
      const judgement = judgeContract({
        address,
        abi: sample.output.abi,
        runtime: { recompiled: recompiled.runtime, onChain: runtime },
        ...(attack.withoutCreation !== true && {
          creation: { recompiled: recompiled.creation, onChain: creation },
        }),
        ...(attack.libraries && { libraries: attack.libraries }),
      });
      const verdict = judgement[attack.code];
      expect(verdict).toMatchObject(attack.expected);
      if (!verdict || verdict.match === null) return;
      const { bytes } = toCodeTemplate(recompiled[attack.code]);
      expect(replayTransformations(bytes, verdict.transformations, verdict.values)).toEqual(
        attack.code === 'runtime' ? runtime : creation,
      );
    },
  );
});
