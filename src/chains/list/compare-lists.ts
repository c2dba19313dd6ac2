import { isMembers } from '../../lib/members.ts';
import { type ListRecord } from '../registry/list-record.ts';
import { distinctiveName } from '../registry/merge-chain.ts';

/** A field of a chain that differs between two lists; absent values are missing in that list. */
export interface FieldChange {
  readonly field: keyof ListRecord;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A chain in both lists, with the fields that differ. */
export interface ChainChange {
  readonly chainId: number;
  readonly before: ListRecord;
  readonly after: ListRecord;
  readonly fields: readonly FieldChange[];
}

/** A chain whose endpoints differ. */
export interface RpcChange {
  readonly chainId: number;
  readonly name: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Changes of a newer list, each part by ascending chain id. */
export interface ListDifference {
  readonly added: readonly ListRecord[];
  readonly removed: readonly ListRecord[];
  /** The name or the short name changed. */
  readonly renamed: readonly ChainChange[];
  /** The id now belongs to another chain; these are also among the renamed. */
  readonly identityChanged: readonly ChainChange[];
  readonly rpcChanged: readonly RpcChange[];
  /** Fields other than name, short name and endpoints. */
  readonly otherChanged: readonly ChainChange[];
}

const NAMES: ReadonlySet<string> = new Set(['name', 'shortName']);
const byChainId = (left: { chainId: number }, right: { chainId: number }): number =>
  left.chainId - right.chainId;

/** Fields that differ between two records, sorted by name. */
export function compareRecords(before: ListRecord, after: ListRecord): readonly FieldChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name): FieldChange[] => {
    const field = name as keyof ListRecord;
    if (sortedJson(before[field]) === sortedJson(after[field])) return [];
    return [
      {
        field,
        ...(before[field] === undefined ? {} : { before: before[field] }),
        ...(after[field] === undefined ? {} : { after: after[field] }),
      },
    ];
  });
}

/** The order of object keys is irrelevant; that of arrays matters, because endpoints are tried in order. */
function sortedJson(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, member: unknown) =>
    isMembers(member)
      ? Object.fromEntries(
          Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)),
        )
      : member,
  );
}

/**
 * Whether an id now belongs to another chain: the newer list marks the id as reused (`redFlags:
 * reusedChainId`) and its name differs, ignoring case, punctuation and words such as "mainnet".
 */
export function changesIdentity(before: ListRecord, after: ListRecord): boolean {
  return (
    after.redFlags?.includes('reusedChainId') === true &&
    distinctiveName(before.name) !== distinctiveName(after.name)
  );
}

/** The changes from `before` to `after`. A list compared with itself, in any order, gives none. */
export function compareLists(
  before: readonly ListRecord[],
  after: readonly ListRecord[],
): ListDifference {
  const olds = new Map(before.map((record) => [record.chainId, record]));
  const news = new Map(after.map((record) => [record.chainId, record]));
  const changes = [...olds.values()].sort(byChainId).flatMap((old): ChainChange[] => {
    const fresh = news.get(old.chainId);
    // Most records are byte-identical.
    if (fresh === undefined || JSON.stringify(old) === JSON.stringify(fresh)) return [];
    const fields = compareRecords(old, fresh);
    return fields.length === 0 ? [] : [{ chainId: old.chainId, before: old, after: fresh, fields }];
  });
  const isRenamed = ({ fields }: ChainChange): boolean =>
    fields.some(({ field }) => NAMES.has(field));
  return {
    added: [...news.values()].filter(({ chainId }) => !olds.has(chainId)).sort(byChainId),
    removed: [...olds.values()].filter(({ chainId }) => !news.has(chainId)).sort(byChainId),
    renamed: changes.filter(isRenamed),
    identityChanged: changes.filter((change) => changesIdentity(change.before, change.after)),
    rpcChanged: changes
      .filter(({ fields }) => fields.some(({ field }) => field === 'rpc'))
      .map(({ chainId, before: old, after: fresh }) => ({
        chainId,
        name: fresh.name,
        added: without(fresh.rpc, old.rpc),
        removed: without(old.rpc, fresh.rpc),
      })),
    otherChanged: changes
      .map((change) => ({
        ...change,
        fields: change.fields.filter(({ field }) => !NAMES.has(field) && field !== 'rpc'),
      }))
      .filter(({ fields }) => fields.length > 0),
  };
}

function without(urls: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return urls.filter((url) => !known.has(url));
}
