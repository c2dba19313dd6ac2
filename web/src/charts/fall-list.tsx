import { type VNode } from 'preact';
import { formatChange, formatCount } from '../format.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { type MatchCounts } from '../answers.ts';
import { type Fall, type FallMark } from './join-falls.ts';

/** How many falls of one mark are told one by one. */
const SHOWN = 5;

interface Props {
  readonly marks: readonly FallMark[];
  /** To the root of the API host; absent where all falls are of the chain that the page is about. */
  readonly base?: string | undefined;
}

/** Why counts fell: the marks of a chart by their numbers. */
export function FallList({ marks, base }: Props): VNode | null {
  if (marks.length === 0) return null;
  return (
    <>
      <h3>Why counts fell</h3>
      <ol class="falls">
        {marks.map(({ number, falls }) => (
          <li key={number}>
            {falls.length === 1 ? (
              <FallText fall={falls[0]} base={base} />
            ) : (
              <JoinedFalls falls={falls} base={base} />
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

function sumOf(falls: readonly Fall[]): MatchCounts {
  const sum = (kind: keyof MatchCounts): number =>
    falls.reduce((total, fall) => total + fall[kind], 0);
  return { full: sum('full'), partial: sum('partial') };
}

function JoinedFalls({
  falls,
  base,
}: {
  readonly falls: FallMark['falls'];
  readonly base: string | undefined;
}): VNode {
  const [{ date: first }] = falls;
  const last = falls.at(-1)?.date ?? first;
  const sum = sumOf(falls);
  const left = sumOf(falls.slice(SHOWN));
  return (
    <>
      {formatCount(-sum.full - sum.partial)} withdrawals,{' '}
      {first === last ? first : `${first} to ${last}`}: {formatChange(sum.full)} full,{' '}
      {formatChange(sum.partial)} partial
      <ul>
        {falls.slice(0, SHOWN).map((fall, index) => (
          <li key={index}>
            <FallText fall={fall} base={base} />
          </li>
        ))}
        {falls.length > SHOWN && <li>and {formatCount(-left.full - left.partial)} more</li>}
      </ul>
    </>
  );
}

function FallText({
  fall: { date, chainId, chainName, full, partial, reason },
  base,
}: {
  readonly fall: Fall;
  readonly base: string | undefined;
}): VNode {
  return (
    <>
      {date}
      {base !== undefined && (
        <>
          ,{' '}
          <a href={`${base}registry/${chainId}`}>
            <SafeText text={chainName ?? `chain ${chainId}`} />
          </a>
        </>
      )}
      : {formatChange(full)} full, {formatChange(partial)} partial – <SafeText text={reason} />
    </>
  );
}
