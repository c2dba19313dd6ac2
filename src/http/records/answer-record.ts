import { type Context } from 'hono';

import { type Hex } from '../../lib/hex.ts';
import type {
  ContractMatch,
  ContractSection,
  ContractReader,
  RecordVersion,
} from '../../repository/repository.ts';
import { type Answer, JSON_TYPE } from '../answer.ts';
import { type HttpParts } from '../http-parts.ts';
import { type RecordForm } from './render-record.ts';

/** Which contract. */
export interface ContractPlace {
  readonly chainId: number;
  readonly address: Hex;
}

/** How a record is shown. */
export interface RecordView {
  readonly form: RecordForm;
  /** What the form shows, where its kind alone does not say it. */
  readonly key?: unknown;
  /** What the form needs. */
  readonly parts: readonly ContractSection[];
  /** Its media type; JSON where it is not said. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Answers with the record of a contract.
 * @param view may refuse the match by throwing
 * @returns undefined where the contract has no match
 * @throws FullmatchError as RecordAnswers.answer; what `view` throws
 */
export async function answerRecord(
  c: Context,
  { contracts, answers }: Pick<HttpParts, 'contracts' | 'answers'>,
  { chainId, address }: ContractPlace,
  view: (match: ContractMatch) => RecordView,
): Promise<Answer | undefined> {
  return answerVersion(contracts, { chainId, address }, async ({ match, version }) => {
    const { form, key, parts, type = JSON_TYPE, headers } = view(match);
    return answers.answer(c, {
      key: [form.kind, chainId, address, version, key],
      type,
      ...(headers && { headers }),
      read: async () => {
        const record = await contracts.readRecord(chainId, address, parts);
        if (record?.version !== version) throw new RecordChanged();
        return { match, parts: record.sections, form };
      },
    });
  });
}

/** A record was changed between the look at its version and the reading of it. */
class RecordChanged extends Error {
  override readonly name = 'RecordChanged';
}

/**
 * Answers from the current version of a contract's record, and from the next one where it changes meanwhile.
 * @returns undefined where the contract has no match
 */
async function answerVersion(
  contracts: Pick<ContractReader, 'readRecordVersion'>,
  { chainId, address }: ContractPlace,
  answer: (found: RecordVersion) => Promise<Answer>,
): Promise<Answer | undefined> {
  for (;;) {
    const found = await contracts.readRecordVersion(chainId, address);
    if (found === undefined) return undefined;
    try {
      return await answer(found);
    } catch (error) {
      // Each turn needs another commit, so this ends.
      if (!(error instanceof RecordChanged)) throw error;
    }
  }
}

/**
 * Answers with one file of a contract.
 * @param view its type and headers; may refuse the match by throwing
 * @returns undefined where the contract has no match
 * @throws FullmatchError as {@link answerRecord}; what `view` and `fail` throw
 */
export async function answerFile(
  c: Context,
  { contracts, answers }: Pick<HttpParts, 'contracts' | 'answers'>,
  { chainId, address, path }: ContractPlace & { readonly path: string },
  view: (match: ContractMatch) => {
    readonly type: string;
    readonly headers: Readonly<Record<string, string>>;
    /** Thrown where the contract has no such file. */
    readonly missing: () => Error;
  },
): Promise<Answer | undefined> {
  return answerVersion(contracts, { chainId, address }, async ({ match, version }) => {
    const { missing, ...shown } = view(match);
    return answers.answer(c, {
      key: ['file', chainId, address, version, path],
      ...shown,
      read: async () => {
        const file = await contracts.readFile(chainId, address, path);
        const after = await contracts.readRecordVersion(chainId, address);
        if (after?.version !== version) throw new RecordChanged();
        if (file?.content === undefined) throw missing();
        return Buffer.from(file.content, 'utf8');
      },
    });
  });
}
