import { EventLoopYielder } from '../../lib/event-loop-yielder.ts';
import { type CompilationTarget } from '../../solidity/standard-json.ts';
import { similarityOf, metadataAuxdataOf, toDigitPairs } from '../compilation/choose-target.ts';
import { type ContractCodes } from '../compilation/read-output.ts';
import { type SubmittedCodes } from './submitted-codes.ts';

/** Maximum number of contracts compiled completely for one pair of bytecodes, the most similar first. */
export const MAX_TRIED = 8;
/**
 * Minimum similarity. Bytecode with less in common comes from other sources: values and metadata are a small
 * part of it.
 */
const LEAST_SAME = 0.2;

/**
 * Ranks the contracts of a compilation by similarity to a bytecode; those whose metadata hash it contains
 * come first.
 */
export class ContractRanking {
  readonly #contracts: readonly ContractCodes[];
  readonly #pauses = new EventLoopYielder();
  readonly #signal: AbortSignal;
  readonly #pairs = new Map<'creation' | 'runtime', readonly Uint16Array[]>();

  constructor(contracts: readonly ContractCodes[], signal: AbortSignal) {
    this.#contracts = contracts;
    this.#signal = signal;
  }

  /** @throws the reason of the signal */
  async nearest({
    creationCode,
    runtimeCode,
  }: SubmittedCodes): Promise<readonly CompilationTarget[]> {
    const key = runtimeCode === undefined ? 'creation' : 'runtime';
    const digits = (runtimeCode ?? creationCode ?? '0x').slice(2);
    const code = toDigitPairs(digits);
    const near: { readonly target: CompilationTarget; readonly same: number }[] = [];
    for (const [index, pairs] of (await this.#pairsOf(key)).entries()) {
      const contract = this.#contracts[index];
      const [shorter = 0, longer = 0] = [pairs.length, code.length].sort((a, b) => a - b);
      if (contract === undefined || shorter < LEAST_SAME * longer) continue;
      await this.#giveTurn();
      const end = metadataAuxdataOf(contract.runtime);
      // In creation bytecode, constructor arguments follow the auxdata.
      const isNamed = end !== undefined && digits.includes(end);
      const same = Number(isNamed) + similarityOf(pairs, code);
      if (same >= LEAST_SAME) near.push({ target: contract.target, same });
    }
    return near
      .sort((left, right) => right.same - left.same)
      .slice(0, MAX_TRIED)
      .map(({ target }) => target);
  }

  async #pairsOf(key: 'creation' | 'runtime'): Promise<readonly Uint16Array[]> {
    const known = this.#pairs.get(key);
    if (known !== undefined) return known;
    const pairs: Uint16Array[] = [];
    for (const contract of this.#contracts) {
      await this.#giveTurn();
      pairs.push(toDigitPairs(contract[key]));
    }
    this.#pairs.set(key, pairs);
    return pairs;
  }

  async #giveTurn(): Promise<void> {
    await this.#pauses.take();
    this.#signal.throwIfAborted();
  }
}
