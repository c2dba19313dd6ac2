import { bytesToHex } from '../../../lib/hex.ts';
import { isMembers, membersOf } from '../../../lib/members.ts';
import { splitQualifiedName } from '../../../solidity/library-id.ts';
import { type SubmittedCodeMatch } from '../../../verification/submitted-codes/submitted-codes.ts';
import { type ResponseOf } from '../../answer.ts';
import { type StoredMatch } from '../../../verification/known-codes/search-known-code.ts';
import { locateMethods } from '../../../verification/submitted-codes/locate-methods.ts';
import { type batchSchema, type sourceSchema, type verdictSchema } from './blockscout-routes.ts';

type Verdict = ResponseOf<typeof verdictSchema>;
type Source = ResponseOf<typeof sourceSchema>;
type Parts = NonNullable<Verdict['extraData']>['localCreationInputParts'];
type Batch = Extract<ResponseOf<typeof batchSchema>, { contractVerificationResults: unknown }>;
type Item = Batch['contractVerificationResults']['items'][number];
type Success = Extract<Item, { success: unknown }>['success'];

const MATCH_TYPES = { full: 'FULL', partial: 'PARTIAL' } as const;
const LANGUAGES: Readonly<Record<string, Success['language']>> = {
  solidity: 'SOLIDITY',
  yul: 'YUL',
  vyper: 'VYPER',
};

/**
 * Methods are not located in bytecode larger than this, in bytes. It exceeds the size of any contract on
 * Ethereum (EIP-170, EIP-7954).
 */
const MAX_MAPPED_BYTES = 65_536;

/** Renders a match in the verifier's format. */
export function renderVerdict(found: SubmittedCodeMatch, wantsMethods: boolean): Verdict {
  const { compilation } = found;
  return {
    ...{ message: 'OK', status: 'SUCCESS' },
    source: renderSource(found),
    extraData: {
      localCreationInputParts: partsOf(compilation.creationCode, compilation.creationCodeArtifacts),
      localDeployedBytecodeParts: partsOf(
        compilation.runtimeCode,
        compilation.runtimeCodeArtifacts,
      ),
    },
    postActionResponses: { lookupMethods: wantsMethods ? methodsOf(compilation) : null },
  };
}

/** Returns the source locations of the methods of a compiled contract. */
function methodsOf({
  artifacts,
  runtimeCode,
  runtimeCodeArtifacts,
}: SubmittedCodeMatch['compilation']): NonNullable<
  Verdict['postActionResponses']
>['lookupMethods'] {
  const sourceMap = runtimeCodeArtifacts?.['sourceMap'];
  const sources = artifacts['sources'];
  const isMapped = runtimeCode !== undefined && runtimeCode.length <= MAX_MAPPED_BYTES;
  if (!isMapped || typeof sourceMap !== 'string' || !isMembers(sources)) return null;
  const names = new Map(
    Object.entries(sources).map(([path, source]) => [isMembers(source) && source['id'], path]),
  );
  const nameFile = (id: number): string | undefined => names.get(id);
  return {
    methods: locateMethods({
      code: runtimeCode,
      abi: artifacts['abi'],
      methodIdentifiers: artifacts['methodIdentifiers'],
      sourceMap,
      nameFile,
    }),
  };
}

/** Renders the compilation of a match, and how it matches the given bytecode. */
export function renderSource({ compilation, judgement }: SubmittedCodeMatch): Source {
  const { creation, runtime } = judgement;
  return renderStored({
    compilation,
    match: judgement.match ?? 'partial',
    creationValues: creation?.match ? creation.values : {},
    runtimeValues: runtime?.match ? runtime.values : {},
  });
}

/** Renders a compilation with the values of a deployment. */
export function renderStored({
  compilation,
  match,
  creationValues,
  runtimeValues,
}: StoredMatch): Source {
  const { name, fullyQualifiedName, version, settings, artifacts } = compilation;
  const [fileName] = splitQualifiedName(fullyQualifiedName);
  return {
    ...{ fileName, contractName: name, compilerVersion: `v${version}` },
    compilerSettings: JSON.stringify(settings),
    sourceType: LANGUAGES[compilation.language] ?? 'SOLIDITY',
    sourceFiles: sourcesOf(compilation),
    abi: Array.isArray(artifacts['abi']) ? JSON.stringify(artifacts['abi']) : null,
    constructorArguments: creationValues.constructorArguments ?? null,
    matchType: MATCH_TYPES[match],
    compilationArtifacts: JSON.stringify(artifacts),
    creationInputArtifacts: JSON.stringify(compilation.creationCodeArtifacts ?? {}),
    deployedBytecodeArtifacts: JSON.stringify(compilation.runtimeCodeArtifacts ?? {}),
    isBlueprint: false,
    libraries: {
      ...creationValues.libraries,
      ...runtimeValues.libraries,
      ...librariesIn(settings),
    },
  };
}

function sourcesOf({ sources }: SubmittedCodeMatch['compilation']): Record<string, string> {
  return Object.fromEntries(sources.map(({ path, content }) => [path, content]));
}

/** Returns the libraries in the settings: `path:Name` → address. */
function librariesIn({ libraries }: Readonly<Record<string, unknown>>): Record<string, string> {
  if (!isMembers(libraries)) return {};
  return Object.fromEntries(
    Object.entries(libraries).flatMap(([path, named]) =>
      isMembers(named)
        ? Object.entries(named).map(([name, address]) => [`${path}:${name}`, String(address)])
        : [[splitQualifiedName(path).join(':'), String(named)]],
    ),
  );
}

/** Splits bytecode into metadata and the parts between. */
function partsOf(
  code: Uint8Array | undefined,
  artifacts: Readonly<Record<string, unknown>> | undefined,
): Parts {
  if (code === undefined) return [];
  const positions = membersOf(artifacts?.['cborAuxdata']);
  const metas = (Object.values(positions) as { offset: number; value: string }[]).sort(
    (left, right) => left.offset - right.offset,
  );
  const parts: Parts[number][] = [];
  let end = 0;
  const add = (type: 'main' | 'meta', until: number): void => {
    if (until > end) parts.push({ type, data: bytesToHex(code.subarray(end, until)) });
    end = until;
  };
  for (const { offset, value } of metas) {
    add('main', offset);
    add('meta', offset + (value.length - 2) / 2);
  }
  add('main', code.length);
  return parts;
}

/** Renders the matches of several contracts, in order. */
export function renderBatch(found: readonly (SubmittedCodeMatch | undefined)[]): Batch {
  const items = found.map((match): Item =>
    match === undefined ? { failure: {} } : { success: renderSuccess(match) },
  );
  return { contractVerificationResults: { items } };
}

function renderSuccess({ compilation, judgement }: SubmittedCodeMatch): Success {
  const { name, fullyQualifiedName, version, settings, artifacts } = compilation;
  const creation = detailsOf(judgement.creation);
  const runtime = detailsOf(judgement.runtime);
  return {
    creationCode: bytesToHex(compilation.creationCode ?? new Uint8Array()),
    runtimeCode: bytesToHex(compilation.runtimeCode ?? new Uint8Array()),
    compiler: compilation.compiler === 'vyper' ? 'VYPER' : 'SOLC',
    compilerVersion: `v${version}`,
    language: LANGUAGES[compilation.language] ?? 'SOLIDITY',
    fileName: splitQualifiedName(fullyQualifiedName)[0],
    contractName: name,
    sources: sourcesOf(compilation),
    compilerSettings: JSON.stringify(settings),
    compilationArtifacts: JSON.stringify(artifacts),
    creationCodeArtifacts: JSON.stringify(compilation.creationCodeArtifacts ?? {}),
    runtimeCodeArtifacts: JSON.stringify(compilation.runtimeCodeArtifacts ?? {}),
    ...(creation && { creationMatchDetails: creation }),
    ...(runtime && { runtimeMatchDetails: runtime }),
  };
}

function detailsOf(
  verdict: SubmittedCodeMatch['judgement']['runtime'],
): Success['runtimeMatchDetails'] {
  if (verdict === undefined || verdict.match === null) return undefined;
  return {
    matchType: MATCH_TYPES[verdict.match],
    values: JSON.stringify(verdict.values),
    transformations: JSON.stringify(verdict.transformations),
  };
}
