import { type Context } from 'hono';

import type {
  ContractMatch,
  ContractSection,
  ContractReader,
  RecordVersion,
} from '../../repository/repository.ts';
import { type Answer, JSON_TYPE } from '../answer.ts';
import { type ContractReference } from '../contract-reference.ts';
import { type HttpDependencies } from '../http-dependencies.ts';
import { encode, type RecordForm } from './render-record.ts';

/** Format of a response with a record. */
export interface RecordView {
  readonly form: RecordForm;
  /** Distinguishes responses of the same form; absent if its kind is enough. */
  readonly key?: unknown;
  /** Sections that the form needs. */
  readonly parts: readonly ContractSection[];
  /** Media type; JSON by default. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Responds with the record of a contract.
 * @param view may reject the match by throwing
 * @returns undefined if the contract has no match
 * @throws FullmatchError as RecordResponder.answer; errors of `view`
 */
export async function respondWithRecord(
  c: Context,
  { contracts, answers }: Pick<HttpDependencies, 'contracts' | 'answers'>,
  { chainId, address }: ContractReference,
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

/** The record changed between reading its version and reading the record. */
class RecordChanged extends Error {
  override readonly name = 'RecordChanged';
}

/**
 * Responds with the current version of a contract's record, or a later one if it changes meanwhile.
 * @returns undefined if the contract has no match
 */
async function answerVersion(
  contracts: Pick<ContractReader, 'readRecordVersion'>,
  { chainId, address }: ContractReference,
  answer: (found: RecordVersion) => Promise<Answer>,
): Promise<Answer | undefined> {
  for (;;) {
    const found = await contracts.readRecordVersion(chainId, address);
    if (found === undefined) return undefined;
    try {
      return await answer(found);
    } catch (error) {
      // Each iteration requires another commit, so this terminates.
      if (!(error instanceof RecordChanged)) throw error;
    }
  }
}

/**
 * Responds with one file of a contract.
 * @param view its type and headers; may reject the match by throwing
 * @returns undefined if the contract has no match
 * @throws FullmatchError as {@link respondWithRecord}; the errors of `view` and `missing`
 */
export async function respondWithFile(
  c: Context,
  { contracts, answers }: Pick<HttpDependencies, 'contracts' | 'answers'>,
  { chainId, address, path }: ContractReference & { readonly path: string },
  view: (match: ContractMatch) => {
    readonly type: string;
    readonly headers: Readonly<Record<string, string>>;
    /** Creates the error for a file that the contract does not have. */
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
        return encode([file.content]);
      },
    });
  });
}
