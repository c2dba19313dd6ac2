import { FullmatchError } from '../errors.ts';
import { checksumAddress, type Hex } from '../lib/hex.ts';
import { printableText } from '../lib/printable-text.ts';
import { type Match } from '../repository/verified-contract.ts';
import { type FailureKind } from '../verification/verification-failure.ts';
import { renderTable } from './table.ts';

/** What came of a verification, wherever it ran. */
export interface VerificationOutcome {
  readonly chainId: number;
  readonly address: Hex;
  readonly runtimeMatch: Match | null;
  readonly creationMatch: Match | null;
  readonly failure?: {
    readonly code: string;
    readonly kind: FailureKind;
    readonly message: string;
    readonly data?: unknown;
  };
}

const MEANINGS: Readonly<Record<Match, string>> = {
  full: 'identical, and every metadata hash in it is that of these sources',
  partial: 'identical but for the metadata hash: comments, names or settings may differ',
};
const MESSAGES_SHOWN = 5;
const MESSAGE_SHOWN_CHARACTERS = 400;

/** Both matches and what they mean, for people. */
export function outcomeText({
  chainId,
  address,
  runtimeMatch,
  creationMatch,
}: VerificationOutcome): string {
  const meaningOf = (match: Match | null): string =>
    match === null ? 'not compared, or different' : MEANINGS[match];
  return `${checksumAddress(address)} on chain ${chainId}\n${renderTable(
    ['code', 'match', 'meaning'],
    [
      ['runtime', runtimeMatch ?? 'none', meaningOf(runtimeMatch)],
      ['creation', creationMatch ?? 'none', meaningOf(creationMatch)],
    ],
  )}`;
}

/** The error that ends the command when there is no match: 6 no match, 75 not checked, 1 not verifiable. */
export function failureOf({ failure }: VerificationOutcome): FullmatchError | undefined {
  if (failure === undefined) return undefined;
  const { code, kind, message, data } = failure;
  const messages = (data as { compilerErrors?: unknown } | undefined)?.compilerErrors;
  const shown = (Array.isArray(messages) ? messages : [])
    .slice(0, MESSAGES_SHOWN)
    .map((each) => `\n  ${printableText(String(each), MESSAGE_SHOWN_CHARACTERS)}`);
  const codes = {
    no_match: 'no_match',
    invalid_input: 'not_verifiable',
    not_checked: 'not_checked',
  } as const;
  return new FullmatchError(codes[kind], `${message}${shown.join('')}`, {
    details: { reason: code },
  });
}
