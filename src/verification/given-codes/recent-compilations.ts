import { LRUCache } from 'lru-cache';
import { type CompilationTarget, type StandardJsonInput } from '../../solidity/standard-json.ts';
import { type CompilationTask } from '../compilation/compilation-task.ts';
import { compileTarget, type CompiledTarget } from '../compilation/compile-contract.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { type VerificationParts } from '../verify-contract.ts';
import { MOST_TRIED } from './contract-ranking.ts';

type CompilationParts = Pick<VerificationParts, 'compilers' | 'reader'>;

/** What was compiled last: several codes may come of one contract. Each holds as much as a compiler may write. */
export class RecentCompilations {
  readonly #parts: CompilationParts;
  readonly #task: CompilationTask;
  readonly #signal: AbortSignal;
  readonly #recent = new LRUCache<string, Promise<CompiledTarget>>({ max: MOST_TRIED });

  constructor(parts: CompilationParts, task: CompilationTask, signal: AbortSignal) {
    this.#parts = parts;
    this.#task = task;
    this.#signal = signal;
  }

  /** @throws as {@link compileTarget} */
  compile(
    target: CompilationTarget,
    input: StandardJsonInput,
    signal = this.#signal,
  ): Promise<CompiledTarget> {
    // All inputs are made of one by leaving things out.
    const names = [Object.keys(input), Object.keys(input.sources)];
    const key = JSON.stringify([target.path, target.name, names, input.settings]);
    const known = this.#recent.get(key);
    const compiled = known ?? compileTarget(this.#parts, { ...this.#task, target }, input, signal);
    this.#recent.set(key, compiled);
    compiled.catch((error: unknown) => {
      // What was given up, or crashed, may be compiled again.
      if (!(error instanceof VerificationFailure)) this.#recent.delete(key);
    });
    return compiled;
  }
}
