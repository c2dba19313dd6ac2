import { distance } from 'fastest-levenshtein';
import { foldText } from '../../../src/lib/fold-text.ts';
import { formerNamesOf } from '../../../src/lib/former-chain-names.ts';
import { type RegistryLine } from '../answers.ts';

const MOST = 5;

/**
 * Chains with a name similar to a text: by id, short name, name, or a word of the name. Most similar first;
 * ties put supported chains first.
 */
export function nearestChains(
  lines: readonly RegistryLine[],
  text: string,
): readonly RegistryLine[] {
  const wanted = foldText(text.trim()).replace(/^eip155:/, '');
  if (wanted === '') return [];
  // A third of the letters may differ; if lengths differ by more, the texts are too different.
  const most = Math.max(1, Math.floor(wanted.length / 3));
  const nearest = (texts: readonly string[]): number =>
    Math.min(
      ...texts
        .filter((each) => Math.abs(each.length - wanted.length) <= most)
        .map((each) => distance(wanted, each)),
    );
  const stepsTo = ({ chainId, name, shortName = '' }: RegistryLine): number => {
    const folded = foldText(name);
    const whole = nearest([
      String(chainId),
      foldText(shortName),
      folded,
      ...formerNamesOf(chainId),
    ]);
    return Math.min(whole, nearest(folded.split(/\s+/)) + 0.5);
  };
  return lines
    .map((line) => ({ line, steps: stepsTo(line) }))
    .filter(({ steps }) => Math.floor(steps) <= most)
    .sort(
      (left, right) =>
        left.steps - right.steps ||
        Number(right.line.supported) - Number(left.line.supported) ||
        left.line.chainId - right.line.chainId,
    )
    .slice(0, MOST)
    .map(({ line }) => line);
}
