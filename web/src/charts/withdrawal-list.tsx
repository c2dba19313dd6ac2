import { type VNode } from 'preact';
import { allOf, type CountsApart } from '../counts-apart.ts';
import { formatChange, formatCount } from '../format.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { WithdrawalReason } from '../parts/withdrawal-reason.tsx';
import { type Withdrawal, type WithdrawalMark } from './join-withdrawals.ts';

/** Maximum withdrawals of one mark that are listed individually. */
const SHOWN = 5;

interface Props {
  readonly marks: readonly WithdrawalMark[];
  /** Relative URL of the API host's root; absent if all withdrawals belong to the page's own chain. */
  readonly base?: string | undefined;
}

/** Reasons of decreases, by the numbered marks of a chart. */
export function WithdrawalList({ marks, base }: Props): VNode | null {
  if (marks.length === 0) return null;
  return (
    <>
      <h3>Why counts fell</h3>
      <ol class="withdrawals">
        {marks.map(({ number, withdrawals }) => (
          <li key={number}>
            {withdrawals.length === 1 ? (
              <WithdrawalText withdrawal={withdrawals[0]} base={base} />
            ) : (
              <JoinedWithdrawals withdrawals={withdrawals} base={base} />
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

function sumOf(withdrawals: readonly Withdrawal[]): CountsApart {
  const sum = (kind: keyof CountsApart): number =>
    withdrawals.reduce((total, withdrawal) => total + withdrawal[kind], 0);
  return { full: sum('full'), partial: sum('partial'), claimed: sum('claimed') };
}

/** By how much each count fell; claims only where there were some. */
function describeFall({ full, partial, claimed }: CountsApart): string {
  const verified = `${formatChange(full)} full, ${formatChange(partial)} partial`;
  if (claimed === 0) return verified;
  const claims = `${formatChange(claimed)} claimed`;
  return full === 0 && partial === 0 ? claims : `${verified}, ${claims}`;
}

function JoinedWithdrawals({
  withdrawals,
  base,
}: {
  readonly withdrawals: WithdrawalMark['withdrawals'];
  readonly base: string | undefined;
}): VNode {
  const [{ date: first }] = withdrawals;
  const last = withdrawals.at(-1)?.date ?? first;
  const sum = sumOf(withdrawals);
  const left = sumOf(withdrawals.slice(SHOWN));
  return (
    <>
      {formatCount(-allOf(sum))} withdrawals, {first === last ? first : `${first} to ${last}`}:{' '}
      {describeFall(sum)}
      <ul>
        {withdrawals.slice(0, SHOWN).map((withdrawal, index) => (
          <li key={index}>
            <WithdrawalText withdrawal={withdrawal} base={base} />
          </li>
        ))}
        {withdrawals.length > SHOWN && <li>and {formatCount(-allOf(left))} more</li>}
      </ul>
    </>
  );
}

function WithdrawalText({
  withdrawal: { date, chainId, chainName, reason, ...counts },
  base,
}: {
  readonly withdrawal: Withdrawal;
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
      : {describeFall(counts)} – <WithdrawalReason reason={reason} />
    </>
  );
}
