import { hexToBytes } from '../../lib/hex.ts';
import { isMembers, type Members } from '../../lib/members.ts';
import { EventLoopYielder } from '../../lib/event-loop-yielder.ts';
import {
  type AbiSignature,
  type SignatureKind,
  signaturesOf,
} from '../../solidity/abi-signatures.ts';
import { parseSignature } from '../../solidity/parse-signature.ts';
import { lockUntilCommit } from '../../store/advisory-locks.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';

/** Compilations processed in one transaction. */
const COMPILATIONS_AT_ONCE = 20;
/** Maximum size of an ABI: an entry has several hundred bytes, and a contract several hundred entries. */
const ABI_BYTES = 524_288;
const MAX_ENTRIES = 5_000;
/** Entries hashed in one turn of the event loop: a millisecond. */
const ENTRIES_AT_ONCE = 50;
/** Rows written by one statement. */
const ROWS_AT_ONCE = 5_000;
/** Inputs of an event with their names. */
const INPUTS_BYTES = 4_096;

// Counted with a limit: PostgreSQL may answer EXISTS by hashing all contracts.
const TAKE_COMPILATIONS = sql(
  'take compilations with signatures',
  `SELECT taken.compilation_id, is_counted, current.is_current,
     CASE WHEN is_counted <> is_current AND octet_length((compilation_artifacts -> 'abi')::text) <= ${ABI_BYTES}
       THEN (compilation_artifacts -> 'abi')::text END AS abi,
     compilation_artifacts -> 'methodIdentifiers' AS method_identifiers
   FROM (
     SELECT compilation_id, is_counted FROM signed_compilations WHERE is_due
     ORDER BY compilation_id LIMIT ${COMPILATIONS_AT_ONCE} FOR UPDATE SKIP LOCKED
   ) AS taken
   JOIN compiled_contracts ON compiled_contracts.id = taken.compilation_id
   CROSS JOIN LATERAL (
     SELECT count(*) > 0 AS is_current FROM (
       SELECT FROM verified_contracts
       JOIN contract_deployments ON contract_deployments.id = deployment_id
       JOIN current_matches ON current_matches.chain_id = contract_deployments.chain_id
         AND current_matches.address = contract_deployments.address
         AND verified_contract_id = verified_contracts.id
       WHERE verified_contracts.compilation_id = taken.compilation_id
       LIMIT 1
     ) AS found
   ) AS current`,
);
const ADD_SIGNATURES = sql(
  'add signatures',
  `INSERT INTO signatures AS known (signature_hash, kind, signature, compilations)
   SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::bigint[])
   ON CONFLICT (signature_hash, kind) DO UPDATE SET compilations = known.compilations + excluded.compilations`,
);
const SUBTRACT_SIGNATURES = sql(
  'subtract signatures',
  `UPDATE signatures SET compilations = greatest(0, signatures.compilations - row.compilations)
   FROM unnest($1::bytea[], $2::text[], $3::bigint[]) AS row (signature_hash, kind, compilations)
   WHERE signatures.signature_hash = row.signature_hash AND signatures.kind = row.kind`,
);
const ADD_EVENT_INPUTS = sql(
  'add event inputs',
  `INSERT INTO event_inputs (signature_hash, indexed, inputs)
   SELECT signature_hash, indexed, inputs::jsonb FROM unnest($1::bytea[], $2::text[], $3::text[])
     AS row (signature_hash, indexed, inputs)
   ON CONFLICT DO NOTHING`,
);
const MARK_COMPILATIONS = sql(
  'mark signatures as counted',
  `UPDATE signed_compilations SET is_due = false, is_counted = row.is_current
   FROM unnest($1::uuid[], $2::boolean[]) AS row (compilation_id, is_current)
   WHERE signed_compilations.compilation_id = row.compilation_id`,
);

interface TakenRow {
  readonly compilation_id: string;
  readonly is_counted: boolean;
  readonly is_current: boolean;
  readonly abi: string | null;
  /** Compilations whose ABI does not match the functions of the bytecode. */
  readonly method_identifiers: Members | null;
}

/** Signatures with the change in the number of compilations that have them. */
class Tally {
  readonly counts = new Map<string, { kind: SignatureKind; of: AbiSignature; count: number }>();

  add(kind: SignatureKind, of: AbiSignature): void {
    const key = `${kind} ${of.signatureHash32}`;
    const known = this.counts.get(key);
    if (known === undefined) this.counts.set(key, { kind, of, count: 1 });
    else known.count += 1;
  }
}

/** Declaration of an event: its hash, which parameters are indexed, and the parameters. */
type DeclaredEvent = readonly [hash: Buffer, indexed: string, inputs: string];

/**
 * Counts the signatures of stored compilations whose matches were added or removed, batch by batch. A
 * compilation counts while one of its matches is current. Processes share the work.
 * @returns the number of compilations processed; 0 if nothing was due
 */
export async function indexSignatures(database: Database): Promise<number> {
  return database.transaction(async (transaction) => {
    const rows = await transaction.query<TakenRow>(TAKE_COMPILATIONS);
    if (rows.length === 0) return 0;
    const added = new Tally();
    const removed = new Tally();
    const events = new Map<string, DeclaredEvent>();
    const pauses = new EventLoopYielder();
    for (const { abi, method_identifiers: identifiers, is_current: isCurrent } of rows) {
      if (abi === null) continue;
      const tally = isCurrent ? added : removed;
      await read({ abi, identifiers }, tally, isCurrent ? events : undefined, pauses);
    }
    await lockUntilCommit(transaction, 'signatures');
    await write(transaction, added, removed, [...events.values()]);
    await transaction.query(MARK_COMPILATIONS, [
      rows.map(({ compilation_id }) => compilation_id),
      rows.map(({ is_current }) => is_current),
    ]);
    return rows.length;
  });
}

async function read(
  { abi: text, identifiers }: { readonly abi: string; readonly identifiers: Members | null },
  tally: Tally,
  events: Map<string, DeclaredEvent> | undefined,
  pauses: EventLoopYielder,
): Promise<void> {
  const abi = JSON.parse(text) as unknown;
  if (!Array.isArray(abi)) return;
  const seen = new Set<string>();
  if (identifiers !== null) addIdentified(identifiers, tally);
  for (let begin = 0; begin < Math.min(abi.length, MAX_ENTRIES); begin += ENTRIES_AT_ONCE) {
    await pauses.take();
    for (const entry of abi.slice(begin, Math.min(begin + ENTRIES_AT_ONCE, MAX_ENTRIES))) {
      // An anonymous event has no topic to look up.
      if (isMembers(entry) && entry['anonymous'] === true) continue;
      const [found] = Object.entries(signaturesOf([entry])).flatMap(([kind, signatures]) =>
        signatures.map((of) => ({ kind: kind as SignatureKind, of })),
      );
      if (found === undefined || parseSignature(found.of.signature, true) === undefined) continue;
      const { kind, of } = found;
      if (kind === 'function' && identifiers !== null) continue;
      if (kind === 'event' && events !== undefined) addEvent(events, of, entry as unknown);
      const key = `${kind} ${of.signature}`;
      if (!seen.has(key)) tally.add(kind, of);
      seen.add(key);
    }
  }
}

/** Functions of a library have other selectors than those of its ABI; names of types in them mean nothing elsewhere. */
function addIdentified(identifiers: Members, tally: Tally): void {
  const few = Object.fromEntries(Object.entries(identifiers).slice(0, MAX_ENTRIES));
  for (const of of signaturesOf([], few).function) {
    if (parseSignature(of.signature, true) !== undefined) tally.add('function', of);
  }
}

function addEvent(
  events: Map<string, DeclaredEvent>,
  { signatureHash32 }: AbiSignature,
  entry: unknown,
): void {
  const inputs = isMembers(entry) && Array.isArray(entry['inputs']) ? entry['inputs'] : [];
  const indexed = inputs.map((input) => (isMembers(input) && input['indexed'] === true ? 1 : 0));
  const text = JSON.stringify(inputs);
  if (text.length > INPUTS_BYTES) return;
  const key = `${signatureHash32} ${indexed.join('')}`;
  if (events.has(key)) return;
  events.set(key, [Buffer.from(hexToBytes(signatureHash32)), indexed.join(''), text]);
}

async function write(
  transaction: Queryable,
  added: Tally,
  removed: Tally,
  events: readonly DeclaredEvent[],
): Promise<void> {
  for (const rows of inPieces([...added.counts.values()])) {
    await transaction.query(ADD_SIGNATURES, [
      rows.map(({ of }) => hexToBytes(of.signatureHash32)),
      rows.map(({ kind }) => kind),
      rows.map(({ of }) => of.signature),
      rows.map(({ count }) => count),
    ]);
  }
  for (const rows of inPieces([...removed.counts.values()])) {
    await transaction.query(SUBTRACT_SIGNATURES, [
      rows.map(({ of }) => hexToBytes(of.signatureHash32)),
      rows.map(({ kind }) => kind),
      rows.map(({ count }) => count),
    ]);
  }
  for (const rows of inPieces(events)) {
    await transaction.query(ADD_EVENT_INPUTS, [
      rows.map(([hash]) => hash),
      rows.map(([, indexed]) => indexed),
      rows.map(([, , inputs]) => inputs),
    ]);
  }
}

function* inPieces<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let begin = 0; begin < rows.length; begin += ROWS_AT_ONCE) {
    yield rows.slice(begin, begin + ROWS_AT_ONCE);
  }
}
