import { bytesToHex, checksumAddress, type Hex } from '../../../lib/hex.ts';
import type {
  ContractMatch,
  ContractSections,
  Match,
  StoredCode,
} from '../../../repository/repository.ts';
import { type ResponseOf } from '../../answer.ts';
import { type contractSchema, type minimalContractSchema } from './contract-schema.ts';

/** Match names on the wire of the verification API v2. */
export const MATCH_NAMES = { full: 'exact_match', partial: 'match' } as const;
/** Language names as standard JSON spells them. */
export const LANGUAGE_NAMES: Readonly<Record<string, string>> = {
  solidity: 'Solidity',
  yul: 'Yul',
  vyper: 'Vyper',
};

type WireContract = ResponseOf<typeof contractSchema>;
/** Compiler artifacts of a bytecode, stored as the compiler's output has them. */
type CodeArtifacts = Pick<
  NonNullable<WireContract['runtimeBytecode']>,
  'sourceMap' | 'linkReferences' | 'cborAuxdata' | 'immutableReferences'
>;

function matchName(match: Match | null): 'exact_match' | 'match' | null {
  return match === null ? null : MATCH_NAMES[match];
}

/** Renders the minimal object of a verified contract. */
export function renderMinimal(contract: ContractMatch): ResponseOf<typeof minimalContractSchema> {
  return {
    ...(contract.matchId !== undefined && { matchId: contract.matchId }),
    match: matchName(contract.match),
    creationMatch: matchName(contract.creationMatch),
    runtimeMatch: matchName(contract.runtimeMatch),
    chainId: String(contract.chainId),
    address: checksumAddress(contract.address),
    verifiedAt: contract.verifiedAt.toISOString(),
  };
}

/** Renders the minimal object of an unverified contract. */
export function renderUnverified(
  chainId: number,
  address: Hex,
): ResponseOf<typeof minimalContractSchema> {
  return {
    match: null,
    creationMatch: null,
    runtimeMatch: null,
    chainId: String(chainId),
    address: checksumAddress(address),
  };
}

/** Renders creationBytecode or runtimeBytecode; unknown values are null. */
export function renderCode(
  code: StoredCode | undefined,
  side: 'creation' | 'runtime',
): WireContract['runtimeBytecode'] {
  const { onChain, recompiled, transformations, values, unprovenValues } = code ?? {};
  const artifacts = (code?.artifacts ?? {}) as CodeArtifacts;
  return {
    onchainBytecode: onChain === undefined ? null : bytesToHex(onChain),
    recompiledBytecode: recompiled === undefined ? null : bytesToHex(recompiled),
    sourceMap: artifacts.sourceMap ?? null,
    linkReferences: artifacts.linkReferences ?? null,
    cborAuxdata: artifacts.cborAuxdata ?? null,
    ...(side === 'runtime' && { immutableReferences: artifacts.immutableReferences ?? null }),
    transformations: transformations ?? null,
    transformationValues: values ?? null,
    ...(side === 'runtime' && { unprovenValues: unprovenValues ?? null }),
    // Only creation bytecode can have unproven values, which come from an import; other records omit the
    // member.
    ...(side === 'creation' && (unprovenValues ?? []).length > 0 && { unprovenValues }),
  };
}

/** Renders a deployment; numbers are decimal strings, unknown values are null. */
export function renderDeployment({
  deployment,
}: Partial<ContractSections>): WireContract['deployment'] {
  const { transactionHash, blockNumber, transactionIndex, deployer, unprovenValues } =
    deployment ?? {};
  return {
    transactionHash: transactionHash ?? null,
    blockNumber: blockNumber === undefined ? null : String(blockNumber),
    transactionIndex: transactionIndex === undefined ? null : String(transactionIndex),
    deployer: deployer === undefined ? null : checksumAddress(deployer),
    ...((unprovenValues ?? []).length > 0 && { unprovenValues }),
  };
}

/** Renders sources as `{path: {content}}`, with own members, so a source may be named `__proto__`. */
export function renderSources({
  sources = [],
}: Partial<ContractSections>): NonNullable<WireContract['sources']> {
  return Object.fromEntries(sources.map(({ path, content }) => [path, { content }]));
}

export function renderCompilation({
  compilation,
}: Partial<ContractSections>): WireContract['compilation'] {
  if (compilation === undefined) return null;
  const { language, compiler, version, settings, name, fullyQualifiedName } = compilation;
  return {
    language: LANGUAGE_NAMES[language] ?? language,
    compiler,
    compilerVersion: version,
    compilerSettings: settings,
    name,
    fullyQualifiedName,
  };
}

/** Renders metadata.json as an object; null if there is none. */
export function renderMetadata({ metadata }: Partial<ContractSections>): unknown {
  return metadata === undefined || metadata === null ? null : (JSON.parse(metadata) as unknown);
}
