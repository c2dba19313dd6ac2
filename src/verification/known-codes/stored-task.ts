import { LANGUAGE_NAMES } from '../../solidity/metadata.ts';
import type { Compilation } from '../../repository/repository.ts';
import {
  readVerificationTask,
  type VerificationTask,
} from '../compilation/read-compilation-task.ts';
import { type Deployment, type StandardJsonCompilation } from '../verification-request.ts';

/** What of a stored compilation its input is made of. */
type StoredInput = 'language' | 'version' | 'settings' | 'sources';

const NOWHERE: Deployment = { chainId: 1, address: `0x${'00'.repeat(20)}` };

/** The standard JSON input of stored sources, as somebody would submit it for one of their contracts. */
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
 * What somebody would have to submit to verify a contract of stored sources, read by the rules for what is submitted.
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
