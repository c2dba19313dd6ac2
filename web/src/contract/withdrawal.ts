import { type ContractEvent } from '../answers.ts';
import { type Loaded } from '../api.ts';

/** The withdrawal that left a contract without a match. */
export function withdrawalOf(
  events: Loaded<{ readonly results: readonly ContractEvent[] }> | undefined,
): ContractEvent | undefined {
  const newest =
    events?.state === 'ready'
      ? events.value.results.find(({ kind }) => kind !== 'corrected')
      : undefined;
  return newest?.kind === 'withdrawn' ? newest : undefined;
}
