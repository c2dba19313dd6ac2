import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { type Match } from '../../repository/matches/verified-contract.ts';
import { type CompilationTask } from './compilation-task.ts';
import { type CompiledTarget } from './compile-contract.ts';
import { findNeededSources, type NeededSources } from './needed-sources.ts';
import { VerificationFailure } from '../verification-failure.ts';

const LISTED = ['Main.sol', 'Base.sol'];
const inputOf = (paths: readonly string[]): StandardJsonInput => ({
  language: 'Solidity',
  sources: Object.fromEntries(paths.map((path) => [path, { content: path }])),
  settings: {},
});

/** Simulates the extra-file bug of solc: the contract matches only if these files are compiled with the listed ones. */
async function find(
  given: readonly string[],
  needed: readonly string[],
  { all, level = 'full' }: { all?: readonly string[]; level?: Match } = {},
): Promise<NeededSources & { readonly compilations: number }> {
  let compilations = 0;
  const compile = (input: StandardJsonInput): CompiledTarget => {
    compilations += 1;
    if (!LISTED.every((path) => Object.hasOwn(input.sources, path))) {
      throw new VerificationFailure('compiler_error', 'A file is missing.');
    }
    const sources = Object.fromEntries(LISTED.map((path) => [path, {}]));
    const compiled = {
      contract: { metadata: JSON.stringify({ sources }) },
      sourceIds: {},
      compileTimeMs: 1,
    };
    return compiled as unknown as CompiledTarget;
  };
  const judge = ({ sources }: StandardJsonInput): ContractJudgement => {
    const match = needed.every((path) => Object.hasOwn(sources, path)) ? level : null;
    return { match, runtimeMatch: match, creationMatch: null };
  };
  const task: CompilationTask = {
    language: 'solidity',
    version: '0.8.37',
    target: { path: 'Main.sol', name: 'Main' },
    input: inputOf(given),
    ...(all && { withAllSources: inputOf(all) }),
  };
  const found = await findNeededSources(task, compile(task.input), {
    compile: (input) => Promise.resolve().then(() => compile(input)),
    judge,
    hasSameMetadata: () => true,
  });
  return { ...found, compilations };
}

const pathsOf = ({ input }: NeededSources): readonly string[] => Object.keys(input.sources);

describe('Sources needed by a compilation', () => {
  test('require one compilation if there are no extra sources', async () => {
    expect(await find(LISTED, [])).toMatchObject({ dropped: [], compilations: 1 });
  });

  test.each<Match>(['full', 'partial'])(
    'are the only ones that a %s match publishes',
    async (level) => {
      const found = await find([...LISTED, 'AUDIT.sol'], [], { level });
      expect(pathsOf(found)).toEqual(LISTED);
      expect(found).toMatchObject({ dropped: ['AUDIT.sol'], judgement: { match: level } });
    },
  );

  test('include needed files missing from the metadata, but no other extra files', async () => {
    const extra = ['A.sol', 'AUDIT.sol', 'B.sol', 'C.sol', '__proto__'];
    const found = await find([...LISTED, ...extra], ['B.sol']);
    expect(pathsOf(found)).toEqual([...LISTED, 'B.sol']);
    expect(found.dropped).toEqual(['A.sol', 'AUDIT.sol', 'C.sol', '__proto__']);
  });

  test('are found in a metadata submission, trying unused files last', async () => {
    const all = [...LISTED, 'AUDIT.sol', 'B.sol'];
    expect(pathsOf(await find(LISTED, [], { all }))).toEqual(LISTED);
    expect(pathsOf(await find(LISTED, ['B.sol'], { all }))).toEqual([...LISTED, 'B.sol']);
  });

  test("come from the compiler's metadata, not from forged metadata", async () => {
    const forged = [...LISTED, 'AUDIT.sol'];
    const found = await find(forged, [], { all: [...forged, 'unused.sol'] });
    expect(pathsOf(found)).toEqual(LISTED);
  });

  test('are found in at most 14 compilations without losing the match', async () => {
    const extra = fc.uniqueArray(fc.constantFrom(...'a b c d e f g h i j k l m n o p'.split(' ')), {
      maxLength: 16,
    });
    await fc.assert(
      fc.asyncProperty(extra, fc.nat(), async (files, seed) => {
        const needed = files.filter((_, index) => (seed >> index) % 2 === 1);
        const found = await find([...LISTED, ...files], needed);
        expect(found.judgement.match).toBe('full');
        expect(pathsOf(found)).toEqual(expect.arrayContaining([...LISTED, ...needed]));
        expect(found.compilations).toBeLessThanOrEqual(14);
        if (needed.length === 0) expect(pathsOf(found)).toEqual(LISTED);
      }),
    );
  });
});
