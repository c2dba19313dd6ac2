import path from 'node:path';
import { messageOf } from '../../errors.ts';
import { printableText } from '../../lib/printable-text.ts';

/** Whether a source is asked over the network; every other one is a file. */
export function isUrlSource(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

/** A source as everybody may see it: the name of a file without its folder. */
export function shownSource(source: string): string {
  return isUrlSource(source) ? source : path.basename(source);
}

/**
 * What a FullmatchError says of a source's fault. Folders of the machine, and what a parser quotes of a file, are for the
 * operator alone.
 */
export function describeSourceFault(
  source: string,
  fault: string,
  cause?: unknown,
): [
  message: string,
  options: { cause: unknown; details: { source: string }; forOperator: string },
] {
  const shown = shownSource(source);
  const why = cause === undefined ? '' : `: ${printableText(messageOf(cause))}`;
  return [
    `The chain list ${shown} ${fault}.`,
    { cause, details: { source: shown }, forOperator: `The chain list ${source} ${fault}${why}.` },
  ];
}
