import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { judgeContract } from '../src/bytecode/judge-contract.ts';
import { attackCases, forge, sampleOf } from './support/bytecode/attack-cases.ts';
import {
  compileSuite,
  withChangedMetadata,
  type CompiledSample,
} from './support/bytecode/compiled-suite.ts';
import { askPeer, type PeerVerdict } from './support/bytecode/peer-verdict.ts';
import { simulateDeployment, type OnChainCodes } from './support/bytecode/simulated-deployment.ts';
import { SOLC_VERSIONS } from './support/compile-in-child.ts';

// The library of the field's public service. It may wrongly be too lenient; docs/matching.md then says so.
const COMPILATION_TIMEOUT_MS = 600_000;

/**
 * Contracts that contain others: the peer library locates their auxdata only where the compiler lists it,
 * from 0.4.12 on.
 */
const WITH_CONTRACTS_WITHIN: readonly string[] = ['Maker', 'Nest'];

type Word = 'perfect' | 'partial' | 'none';

/** Returns the peer library's verdict; a verification error counts as no match. */
function peerWord(match: string | null): Word {
  return match === 'perfect' || match === 'partial' ? match : 'none';
}

function ourWord(match: 'full' | 'partial' | null): Word {
  return match === 'full' ? 'perfect' : (match ?? 'none');
}

function judge({ recompiled, output }: CompiledSample, onChain: OnChainCodes): PeerVerdict {
  const judgement = judgeContract({
    address: onChain.address,
    abi: output.abi,
    runtime: { recompiled: recompiled.runtime, onChain: onChain.runtime },
    creation: { recompiled: recompiled.creation, onChain: onChain.creation },
  });
  return {
    runtime: ourWord(judgement.runtimeMatch),
    creation: ourWord(judgement.creationMatch),
  };
}

async function peer(sample: CompiledSample, onChain: OnChainCodes): Promise<PeerVerdict> {
  const verdict = await askPeer(sample, onChain.address, onChain.runtime, onChain.creation);
  return { runtime: peerWord(verdict.runtime), creation: peerWord(verdict.creation) };
}

beforeAll(() => {
  // The library prints a warning for each storage parameter in the ABI of a library.
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterAll(() => {
  vi.restoreAllMocks();
});

describe.each(SOLC_VERSIONS)(
  'agreement with the peer library on solc %s',
  { timeout: COMPILATION_TIMEOUT_MS },
  (version) => {
    test('gives the same verdict for every honest deployment', async () => {
      for (const sample of await compileSuite(version)) {
        const onChain = simulateDeployment(sample);
        expect(judge(sample, onChain), sample.id).toEqual(await peer(sample, onChain));
      }
    });

    test('gives the same verdict for every deployment with a changed comment', async () => {
      for (const sample of await compileSuite(version)) {
        const onChain = simulateDeployment(withChangedMetadata(sample));
        const isBeyondPeer = version === '0.4.11' && WITH_CONTRACTS_WITHIN.includes(sample.name);
        expect(judge(sample, onChain), sample.id).toEqual(
          isBeyondPeer ? { runtime: 'partial', creation: 'partial' } : await peer(sample, onChain),
        );
        if (isBeyondPeer) {
          expect(await peer(sample, onChain)).toEqual({ runtime: 'none', creation: 'none' });
        }
      }
    });
  },
);

describe('agreement with the peer library on tampered bytecode', () => {
  // Strips the spaces that align the table.
  const explained = readFileSync(
    new URL('../docs/matching.md', import.meta.url),
    'utf8',
  ).replaceAll(/ +/g, ' ');

  test.each(attackCases())('$name', { timeout: COMPILATION_TIMEOUT_MS }, async (attack) => {
    const sample = await sampleOf(attack);
    const { address, runtime, creation } = forge(attack, sample);
    const verdict = await askPeer(
      sample,
      address,
      runtime,
      attack.code === 'creation' ? creation : undefined,
    );
    const ours = ourWord(attack.expected.match);
    expect(peerWord(verdict[attack.code])).toBe(attack.peer ?? ours);
    if (attack.peer === undefined) return;
    expect(attack.peer).not.toBe(ours);
    expect(explained).toContain(`| ${attack.name} | ${ours} | ${attack.peer} |`);
  });
});
