import { type ImportedBytecode, validateImportedBytecode } from '../bytecode/recheck-code.ts';
import { type Hex } from '../lib/hex.ts';
import { isMembers, type Members } from '../lib/members.ts';
import type {
  Compilation,
  Match,
  Transformed,
  VerifiedContract,
} from '../repository/repository.ts';
import { parseRowJson, Refusal } from './refusal.ts';

type ClaimedDeployment = NonNullable<VerifiedContract['deployment']['claimed']>;

/** A bytecode pair of a Verifier Alliance row, with all JSON as text. */
export interface DeliveredSide {
  readonly match: Match | null;
  /** Undefined if the row refers to none, null if it refers to the empty bytecode. */
  readonly onChain?: Uint8Array | null;
  readonly recompiled?: Uint8Array | null;
  readonly artifacts: string | null;
  readonly transformations: string | null;
  readonly values: string | null;
}

/** Evidence of a Verifier Alliance row that a published tree does not contain. */
export interface DeliveredRow {
  readonly address: Hex;
  readonly runtime: DeliveredSide;
  readonly creation: DeliveredSide;
  readonly settings: string;
  readonly artifacts: string;
  readonly additionalInput: string | null;
  /** -1 for a genesis allocation; undefined if unknown, like the other facts. */
  readonly blockNumber?: number;
  readonly transactionIndex?: number;
  readonly deployer?: Hex;
}

/** Evidence of an imported contract, ready to be stored with the facts of its files. */
export interface DeliveredEvidence {
  /** Present if every match that the row states was replayed. */
  readonly trust?: 'rechecked';
  readonly runtimeMatch: Match | null;
  readonly creationMatch: Match | null;
  readonly claimed: ClaimedDeployment;
  readonly compilation: Pick<Compilation, 'settings' | 'artifacts'> & Partial<Compilation>;
  readonly transformed: Pick<VerifiedContract, 'runtime' | 'creation'>;
  /** Size limit of bytecode and JSON columns. */
  readonly bytes: number;
}

/**
 * Replays the evidence of a row as far as its bytecode is present. A match is `rechecked` if both bytecodes
 * of each stated side were replayed and every difference lies where the compiler output allows one.
 * @throws Refusal `codes_differ` if bytecode is present and the recompiled one does not transform into the
 * deployed one
 */
export function toDeliveredEvidence(row: DeliveredRow): DeliveredEvidence {
  const { runtime, creation, blockNumber, transactionIndex, deployer } = row;
  const sides = [replay(row, 'runtime'), replay(row, 'creation')];
  const isRechecked = !sides.includes('not_replayed') && sides.includes('replayed');
  const runtimeCode = runtime.onChain ?? undefined;
  return {
    ...(isRechecked && { trust: 'rechecked' }),
    runtimeMatch: runtime.match,
    creationMatch: creation.match,
    claimed: {
      ...(blockNumber !== undefined && { blockNumber }),
      ...(transactionIndex !== undefined && { transactionIndex }),
      ...(deployer !== undefined && { deployer }),
      ...(runtimeCode && { runtimeCode }),
      ...(creation.onChain !== undefined && { creationCode: creation.onChain }),
    },
    compilation: toCompilation(row),
    transformed: {
      ...toTransformed('runtime', runtime),
      ...toTransformed('creation', creation),
    },
    bytes: bytesOf(row),
  };
}

function toCompilation({
  runtime,
  creation,
  settings,
  artifacts,
  additionalInput,
}: DeliveredRow): DeliveredEvidence['compilation'] {
  const input = parseMembers(additionalInput);
  return {
    settings: parseMembers(settings) ?? {},
    artifacts: parseMembers(artifacts) ?? {},
    ...(runtime.recompiled && { runtimeCode: runtime.recompiled }),
    ...(creation.recompiled && { creationCode: creation.recompiled }),
    ...((runtime.recompiled ?? creation.recompiled) && { areCodesClaimed: true as const }),
    ...artifactsOf('runtimeCodeArtifacts', runtime),
    ...artifactsOf('creationCodeArtifacts', creation),
    ...(input !== undefined && { additionalInput: input }),
  };
}

function artifactsOf(
  name: 'runtimeCodeArtifacts' | 'creationCodeArtifacts',
  { artifacts }: DeliveredSide,
): Partial<Compilation> {
  const parsed = parseMembers(artifacts);
  return parsed === undefined ? {} : { [name]: parsed };
}

/** The expected differences as delivered; empty for a side without any. */
function toTransformed(
  name: 'runtime' | 'creation',
  { transformations, values }: DeliveredSide,
): Pick<VerifiedContract, 'runtime' | 'creation'> {
  const parsed = parseMembers(values);
  const list = parseList(transformations);
  if (parsed === undefined && list === undefined) return {};
  const transformed: Transformed = { transformations: list ?? [], values: parsed ?? {} };
  return { [name]: transformed };
}

function replay(
  row: DeliveredRow,
  side: ImportedBytecode['side'],
): 'replayed' | 'not_replayed' | 'no_match' {
  const { match, onChain, recompiled, artifacts, transformations, values } = row[side];
  if (match === null) return 'no_match';
  if (!onChain || !recompiled) return 'not_replayed';
  const fault = validateImportedBytecode({
    ...{ side, address: row.address, recompiled, onChain, isFull: match === 'full' },
    transformations: parse(transformations) ?? [],
    values: parse(values) ?? {},
    artifacts: parse(artifacts),
  });
  if (fault === 'codes_differ') throw new Refusal('codes_differ', `${side}_transformations`);
  return fault === undefined ? 'replayed' : 'not_replayed';
}

const bytesOf = ({ runtime, creation, artifacts }: DeliveredRow): number =>
  [runtime, creation].reduce(
    (sum, side) =>
      sum +
      (side.onChain?.length ?? 0) +
      (side.recompiled?.length ?? 0) +
      (side.artifacts?.length ?? 0) +
      (side.transformations?.length ?? 0) +
      (side.values?.length ?? 0),
    artifacts.length,
  );

function parse(text: string | null): unknown {
  if (text === null) return undefined;
  const value = parseRowJson(text);
  return value ?? undefined;
}

function parseMembers(text: string | null): Members | undefined {
  const value = parse(text);
  return isMembers(value) ? value : undefined;
}

function parseList(text: string | null): Members[] | undefined {
  const value = parse(text);
  return Array.isArray(value) && value.every(isMembers) ? value : undefined;
}
