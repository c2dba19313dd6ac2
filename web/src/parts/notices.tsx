import { type VNode } from 'preact';
import { type Loaded } from '../api.ts';
import { formatTime } from '../format.ts';

/** Says that a part of a page could not be read, since when and why, with a way to try again. */
export function Failure({
  what,
  loaded,
}: {
  /** What is missing, to stand before "could not be read": `The counts`. */
  readonly what: string;
  readonly loaded: Extract<Loaded<unknown>, { state: 'failed' }>;
}): VNode {
  return (
    <div class="notice failure" role="alert">
      <p>
        <strong>{what} could not be read</strong> at {formatTime(loaded.failedAt)}: {loaded.message}{' '}
        <code>{loaded.code}</code>
      </p>
      <p>
        <a class="button" href="">
          Try again
        </a>
      </p>
    </div>
  );
}
