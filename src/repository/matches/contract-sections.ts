import {
  abiTypeOf,
  type ImmutableDeclaration,
  type ImmutableType,
} from '../../bytecode/immutable-type.ts';
import { bytesToHex } from '../../lib/hex.ts';
import {
  claimedFactsOf,
  type ClaimedFact,
  provenCreationMatch,
  unprovenValuesOf,
  type UnprovenValues,
} from './unproven.ts';
import {
  type Compilation,
  type Deployment,
  type Match,
  type Origin,
  type Source,
  type Transformed,
} from './verified-contract.ts';

/** A bytecode of a contract, as far as it is known, and the expected differences between its two forms. */
export interface StoredCode extends Partial<Transformed> {
  readonly onChain?: Uint8Array;
  readonly recompiled?: Uint8Array;
  /** sourceMap, linkReferences, cborAuxdata, immutableReferences: the compiler's output about the bytecode. */
  readonly artifacts?: Readonly<Record<string, unknown>>;
  /** Of runtime bytecode: its immutables by the compiler's ids, as far as they are known. */
  readonly immutables?: Readonly<Record<string, StoredImmutable>>;
  /** Of runtime bytecode: see {@link unprovenValuesOf}. Of creation bytecode: see {@link claimedFactsOf}. */
  readonly unprovenValues?: readonly (UnprovenValues | 'arguments')[];
}

/** Name and declared type of an immutable. */
export interface StoredImmutable extends ImmutableDeclaration {
  /** The contract ABI type whose encoding its value is, if there is one. */
  readonly abiType?: string;
}

/** A source without its content. */
export interface SourceSize {
  readonly path: string;
  /** Size of its content in UTF-8. */
  readonly bytes: number;
}

/** Evidence of a contract, in the sections that a reader may request. */
export interface ContractSections {
  readonly deployment: Pick<
    Deployment,
    'transactionHash' | 'blockNumber' | 'transactionIndex' | 'deployer'
  > & {
    /** Present with a transaction: see {@link claimedFactsOf}. */
    readonly unprovenValues?: readonly 'transaction'[];
  };
  readonly compilation: Pick<
    Compilation,
    'language' | 'compiler' | 'version' | 'name' | 'fullyQualifiedName' | 'settings'
  >;
  readonly artifacts: Compilation['artifacts'];
  /** The text of metadata.json; null if the contract has none. */
  readonly metadata: string | null;
  /** Each source, by path in code-unit order of UTF-8. */
  readonly sources: readonly Source[];
  /** Paths and sizes alone, in the same order. */
  readonly sourceSizes: readonly SourceSize[];
  readonly creationCode: StoredCode;
  readonly runtimeCode: StoredCode;
}

/** Name of a section of the evidence. */
export type ContractSection = keyof ContractSections;

/** Columns of evidence as read, with all JSON as text; sections that were not requested are null. */
export interface SectionsRow {
  readonly transaction_hash: Uint8Array | null;
  readonly block_number: string | null;
  readonly transaction_index: string | null;
  readonly deployer: Uint8Array | null;
  readonly language: string | null;
  readonly compiler: string | null;
  readonly version: string | null;
  readonly name: string | null;
  readonly fully_qualified_name: string | null;
  readonly settings: string | null;
  readonly artifacts: string | null;
  readonly metadata: string | null;
  readonly match: Match;
  readonly creation_match: Match | null;
  readonly origin: Origin;
  readonly is_code_read: boolean | null;
  readonly has_configured_libraries: boolean | null;
  readonly creation_on_chain: Uint8Array | null;
  readonly creation_recompiled: Uint8Array | null;
  readonly creation_artifacts: string | null;
  readonly creation_transformations: string | null;
  readonly creation_values: string | null;
  readonly runtime_on_chain: Uint8Array | null;
  readonly runtime_recompiled: Uint8Array | null;
  readonly runtime_artifacts: string | null;
  readonly runtime_transformations: string | null;
  readonly runtime_values: string | null;
  readonly immutable_types: string | null;
}

/** Evidence as read: plain data that can be sent to a thread, because parsing takes long. */
export interface StoredSections {
  readonly asked: readonly ContractSection[];
  /** Absent if the evidence of the match is unknown. */
  readonly row?: SectionsRow;
  readonly sources?: readonly Source[];
  readonly sourceSizes?: readonly SourceSize[];
}

/** The requested sections that are known. */
export function parseSections({
  asked,
  row,
  sources,
  sourceSizes,
}: StoredSections): Partial<ContractSections> {
  if (row === undefined) return {};
  const sections: Partial<ContractSections> = {
    deployment: parseDeployment(row),
    ...(row.language !== null && { compilation: parseCompilation(row) }),
    ...(row.artifacts !== null && { artifacts: parseMembers(row.artifacts) }),
    metadata: row.metadata,
    ...(sources !== undefined && { sources }),
    ...(sourceSizes !== undefined && { sourceSizes }),
    creationCode: parseCode(row, 'creation'),
    runtimeCode: parseCode(row, 'runtime'),
  };
  const isAsked = new Set<string>(asked);
  return Object.fromEntries(Object.entries(sections).filter(([section]) => isAsked.has(section)));
}

function parseMembers(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}

function parseList(text: string): Record<string, unknown>[] {
  return JSON.parse(text) as Record<string, unknown>[];
}

function parseDeployment(row: SectionsRow): ContractSections['deployment'] {
  return {
    ...(row.transaction_hash !== null && {
      transactionHash: bytesToHex(row.transaction_hash),
      unprovenValues: readClaimedFacts(row).filter((fact) => fact === 'transaction'),
    }),
    ...(row.block_number !== null && { blockNumber: Number(row.block_number) }),
    ...(row.transaction_index !== null && { transactionIndex: Number(row.transaction_index) }),
    ...(row.deployer !== null && { deployer: bytesToHex(row.deployer) }),
  };
}

function readClaimedFacts(row: SectionsRow): readonly ClaimedFact[] {
  const { creation_values: values, creation_transformations: transformations } = row;
  return claimedFactsOf({
    origin: row.origin,
    hasTransaction: row.transaction_hash !== null,
    hasBlock: row.block_number !== null,
    hasArguments: values !== null && 'constructorArguments' in parseMembers(values),
    areArgumentsPlaced:
      row.is_code_read === true &&
      transformations !== null &&
      parseList(transformations).some(({ reason }) => reason === 'constructorArguments'),
  });
}

function parseCompilation(row: SectionsRow): ContractSections['compilation'] {
  return {
    language: row.language ?? '',
    compiler: row.compiler ?? '',
    version: row.version ?? '',
    name: row.name ?? '',
    fullyQualifiedName: row.fully_qualified_name ?? '',
    settings: parseMembers(row.settings ?? '{}'),
  };
}

function parseCode(row: SectionsRow, side: 'creation' | 'runtime'): StoredCode {
  const onChain = row[`${side}_on_chain`];
  const recompiled = row[`${side}_recompiled`];
  const artifacts = row[`${side}_artifacts`];
  const transformations = row[`${side}_transformations`];
  const text = row[`${side}_values`];
  const values = text === null ? null : parseMembers(text);
  return {
    ...(onChain !== null && { onChain }),
    ...(recompiled !== null && { recompiled }),
    ...(artifacts !== null && { artifacts: parseMembers(artifacts) }),
    ...(side === 'runtime' &&
      row.immutable_types !== null && { immutables: parseImmutables(row.immutable_types) }),
    ...(transformations !== null && {
      transformations: parseList(transformations),
    }),
    ...(values !== null && {
      values,
      unprovenValues:
        side === 'creation'
          ? readClaimedFacts(row).filter((fact) => fact === 'arguments')
          : unprovenValuesOf({
              match: row.match,
              creationMatch: provenCreationMatch(row.origin, row.creation_match, row.is_code_read),
              origin: row.origin,
              values,
              hasConfiguredLibraries: row.has_configured_libraries === true,
            }),
    }),
  };
}

function parseImmutables(text: string): NonNullable<StoredCode['immutables']> {
  const types = JSON.parse(text) as Readonly<Record<string, ImmutableType>>;
  return Object.fromEntries(
    Object.entries(types).map(([id, type]) => {
      const { name, declared } = type;
      const abiType = abiTypeOf(type);
      return [
        id,
        {
          ...(name !== undefined && { name }),
          ...(declared !== undefined && { declared }),
          ...(abiType !== undefined && { abiType }),
        },
      ];
    }),
  );
}
