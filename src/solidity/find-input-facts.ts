import { type Members, membersOf } from '../lib/members.ts';
import { isMetadata, targetOf, versionOf } from './metadata.ts';

/** A parsed JSON document among the files. */
export interface JsonDocument {
  readonly path: string;
  readonly value: Members;
}

/** The compiler and the contract of a standard JSON input, neither of which the input names. */
export interface InputFacts {
  readonly compilerVersion?: string;
  /** The one contract that the files are about: `path:Name`, or its name alone. */
  readonly contract?: string;
}

/** The name of a downloaded input; browsers add ` (1)` to a second download. */
const DOWNLOADED_NAME =
  /(?:^|[/\\])([^/\\]*)-[a-z]+-(\d+\.\d+\.\d+[^/\\-]*)-standard-input(?: ?\(\d+\))?\.json$/;

const nonEmpty = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/**
 * Finds what an input's document says about its compiler and contract: a build info of Hardhat, the output of
 * `vyper -f solc_json`, a contract's full record as this service and Sourcify serve it, metadata next to the
 * input, or the name of a downloaded input.
 */
export function findInputFacts(
  { path, value }: JsonDocument,
  input: Members,
  documents: readonly JsonDocument[],
): InputFacts {
  // The last member is written by `vyper -f solc_json`.
  const { solcLongVersion, solcVersion, compiler_version: vyperVersion, compilation } = value;
  const record = membersOf(compilation);
  const versions = [solcLongVersion, solcVersion, vyperVersion, record['compilerVersion']];
  const version = versions.map(nonEmpty).find((each) => each !== undefined);
  const contract = nonEmpty(record['fullyQualifiedName']);
  if (version !== undefined) {
    return { compilerVersion: version, ...(contract !== undefined && { contract }) };
  }
  const [, name, named] = DOWNLOADED_NAME.exec(path) ?? [];
  if (name !== undefined && named !== undefined) return { compilerVersion: named, contract: name };
  return factsOfMetadata(input, documents);
}

/** The facts of the only metadata whose contract is in the sources of the input. */
function factsOfMetadata(input: Members, documents: readonly JsonDocument[]): InputFacts {
  const sources = membersOf(input['sources']);
  const found = documents.flatMap(({ value }) => {
    const target = isMetadata(value) ? targetOf(value) : undefined;
    return target !== undefined && Object.hasOwn(sources, target.path) ? [{ value, target }] : [];
  });
  const [only, another] = found;
  if (only === undefined || another !== undefined) return {};
  const version = versionOf(only.value);
  return {
    ...(version !== undefined && { compilerVersion: version }),
    contract: `${only.target.path}:${only.target.name}`,
  };
}
