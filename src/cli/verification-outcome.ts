import { FullmatchError } from '../errors.ts';
import { checksumAddress, type Hex } from '../lib/hex.ts';
import { isMembers } from '../lib/members.ts';
import { printableLines, printableText } from '../lib/printable-text.ts';
import type { Match } from '../repository/repository.ts';
import { type FailureKind } from '../verification/verification-failure.ts';
import { describeDiagnosis } from '../solidity/diagnosis.ts';
import { type SettingChanges } from '../solidity/setting-changes.ts';
import { type DroppedSources } from '../verification/jobs/verification-job.ts';
import { renderTable } from './table.ts';

/** Outcome of a local or remote verification. */
export interface VerificationOutcome {
  readonly chainId: number;
  readonly address: Hex;
  readonly runtimeMatch: Match | null;
  readonly creationMatch: Match | null;
  /** Whether a new match was stored; absent after a failure. */
  readonly stored?: boolean;
  /** Whether the sources were stored as an alternative to the shown ones. */
  readonly keptBeside?: boolean;
  /** Sources that the compilation does not need and that are not published. */
  readonly droppedSources?: DroppedSources;
  /** Settings that were changed for the match. */
  readonly changedSettings?: SettingChanges;
  readonly failure?: {
    readonly code: string;
    readonly kind: FailureKind;
    readonly message: string;
    readonly data?: unknown;
  };
}

const MEANINGS: Readonly<Record<Match, string>> = {
  full: 'identical, including every metadata hash',
  partial: 'identical, without a matching metadata hash: names, comments or settings may differ',
};
const MESSAGE_SHOWN_CHARACTERS = 4000;

/** Renders both matches, what they mean, and what was not stored, for people. */
export function outcomeText({
  chainId,
  address,
  runtimeMatch,
  creationMatch,
  stored,
  keptBeside = false,
  droppedSources,
  changedSettings,
}: VerificationOutcome): string {
  const meaningOf = (match: Match | null): string =>
    match === null ? 'not compared, or different' : MEANINGS[match];
  return `${checksumAddress(address)} on chain ${chainId}\n${renderTable(
    ['code', 'match', 'meaning'],
    [
      ['runtime', runtimeMatch ?? 'none', meaningOf(runtimeMatch)],
      ['creation', creationMatch ?? 'none', meaningOf(creationMatch)],
    ],
  )}${stored === false ? notStoredText(keptBeside) : ''}${changedText(changedSettings)}${droppedText(droppedSources)}`;
}

function notStoredText(keptBeside: boolean): string {
  return keptBeside
    ? 'The match was not replaced: other sources that compile to the same bytecode are already shown. Yours were stored as an alternative.\n'
    : 'Nothing was stored: an equally good match already exists.\n';
}

function changedText(changes: SettingChanges | undefined): string {
  const sentence = changes && describeDiagnosis({ changes });
  return sentence === undefined ? '' : `${printableText(sentence)}\n`;
}

function droppedText(dropped: DroppedSources | undefined): string {
  if (dropped === undefined) return '';
  const { count, paths } = dropped;
  const shown = paths.map((each) => `  ${printableText(each)}\n`).join('');
  const more = count > paths.length ? `  and ${count - paths.length} more\n` : '';
  return `Not published, because the code is the same without them (${count}):\n${shown}${more}`;
}

/**
 * Returns the error that ends the command without a match: exit code 6 for no match, 75 for not checked, 1
 * for not verifiable. With `--json` it has the job's code as `reason` and its details as `data`.
 */
export function failureOf({ failure }: VerificationOutcome): FullmatchError | undefined {
  if (failure === undefined) return undefined;
  const { code, kind, message, data } = failure;
  const codes = {
    no_match: 'no_match',
    invalid_input: 'not_verifiable',
    not_checked: 'not_checked',
  } as const;
  return new FullmatchError(codes[kind], printableLines(message, MESSAGE_SHOWN_CHARACTERS), {
    details: { reason: code, ...(isMembers(data) && Object.keys(data).length > 0 && { data }) },
  });
}
