import { LANGUAGE_NAMES } from '../../solidity/metadata.ts';
import { type Compilation, readStoredCompilation } from '../../repository/repository.ts';
import { type Queryable } from '../../store/database.ts';
import {
  readVerificationTask,
  type VerificationTask,
} from '../compilation/read-compilation-task.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { type Deployment, type StandardJsonCompilation } from '../verification-request.ts';

/** The members of a stored compilation that form its input. */
type StoredInput = 'language' | 'version' | 'settings' | 'sources';

const NOWHERE: Deployment = { chainId: 1, address: `0x${'00'.repeat(20)}` };

/**
 * Reads a stored compilation with its sources.
 * @throws VerificationFailure sources_too_large if they exceed the limit
 */
export async function requireStoredCompilation(
  database: Queryable,
  id: string,
  sourceBytes: number,
): Promise<Compilation> {
  const stored = await readStoredCompilation(database, id, sourceBytes);
  if (stored !== undefined) return stored.compilation;
  throw new VerificationFailure('sources_too_large', 'The sources exceed the limit for storage.');
}

/** Builds the standard JSON compilation of stored sources, as a client would submit it for one of their contracts. */
export function describeStoredTask(
  { language, version, settings, sources }: Pick<Compilation, StoredInput>,
  fullyQualifiedName: string,
): StandardJsonCompilation {
  const names: Readonly<Record<string, string>> = LANGUAGE_NAMES;
  const named = Object.hasOwn(names, language) ? names[language] : undefined;
  const contents = sources.map(({ path, content }) => [path, { content }] as const);
  return {
    kind: 'standard_json',
    input: { language: named ?? language, sources: Object.fromEntries(contents), settings },
    compilerVersion: version,
    contractIdentifier: fullyQualifiedName,
  };
}

/**
 * Reads stored sources as a verification task for one of their contracts, under the rules for submissions.
 * @throws VerificationFailure, FullmatchError as reading a submission does
 */
export function readStoredTask(
  stored: Compilation,
  fullyQualifiedName: string,
  sourceBytes: number,
  deployment: Deployment = NOWHERE,
): VerificationTask {
  const compilation = describeStoredTask(stored, fullyQualifiedName);
  return readVerificationTask({ ...deployment, compilation }, sourceBytes);
}
