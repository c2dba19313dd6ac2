import path from 'node:path';
import { messageOf } from '../../errors.ts';
import { printableText } from '../../lib/printable-text.ts';

/** Whether a source is fetched over the network; every other one is a file. */
export function isUrlSource(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

/** A source as it may be published: a file name without its folder. */
export function displaySource(source: string): string {
  return isUrlSource(source) ? source : path.basename(source);
}

/**
 * Publishable part of a source's error. Paths of the machine, and text that a parser quotes from a file, are
 * for the operator only.
 */
export function describeSourceFault(
  source: string,
  fault: string,
  cause?: unknown,
): [
  message: string,
  options: { cause: unknown; details: { source: string }; forOperator: string },
] {
  const shown = displaySource(source);
  const why = cause === undefined ? '' : `: ${printableText(messageOf(cause))}`;
  return [
    `The chain list ${shown} ${fault}.`,
    { cause, details: { source: shown }, forOperator: `The chain list ${source} ${fault}${why}.` },
  ];
}
