import { LRUCache } from 'lru-cache';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { type CompilationTask } from '../compilation/compilation-task.ts';
import { compileTarget, type CompiledTarget } from '../compilation/compile-contract.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { type VerificationParts } from '../verify-contract.ts';
import { MAX_TRIED } from './contract-ranking.ts';

type CompilationParts = Pick<VerificationParts, 'compilers' | 'reader'>;

/**
 * Cache of recent compilations, since several bytecodes may come from one contract. Each may be as large as a
 * compiler output.
 */
export class RecentCompilations {
  readonly #parts: CompilationParts;
  readonly #signal: AbortSignal;
  readonly #recent = new LRUCache<string, Promise<CompiledTarget>>({ max: MAX_TRIED });

  constructor(parts: CompilationParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  /**
   * @param task one of the tasks of a submission, which share a language, a version and sources
   * @throws as {@link compileTarget}
   */
  compile(
    task: CompilationTask,
    input: StandardJsonInput,
    signal = this.#signal,
  ): Promise<CompiledTarget> {
    const { target, isRootAlone = false } = task;
    // All inputs are subsets of one input, so member names and paths identify them.
    const names = [Object.keys(input), Object.keys(input.sources)];
    const key = JSON.stringify([target.path, target.name, isRootAlone, names, input.settings]);
    const known = this.#recent.get(key);
    const compiled = known ?? compileTarget(this.#parts, task, input, signal);
    this.#recent.set(key, compiled);
    compiled.catch((error: unknown) => {
      // An aborted or crashed compilation may be tried again.
      if (!(error instanceof VerificationFailure)) this.#recent.delete(key);
    });
    return compiled;
  }
}
