import { FullmatchError } from '../../errors.ts';
import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { type SignatureKind } from '../../solidity/abi-signatures.ts';
import { lockUntilCommit } from '../../store/advisory-locks.ts';
import { sql, type Database } from '../../store/database.ts';

const IMPORT_SIGNATURES = sql(
  'import signatures',
  `INSERT INTO signatures (signature_hash, kind, signature)
   SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[])
   ON CONFLICT DO NOTHING RETURNING signature_hash, kind`,
);
const COUNT_UNVERIFIED = sql(
  'count unverified signatures',
  'SELECT sum(unverified)::float8 AS unverified FROM signature_totals',
);

/** A signature with its Keccak-256 hash. */
export interface HashedSignature {
  readonly signature: string;
  readonly hash: Hex;
}

/** Submitted signatures of functions, events or errors. */
export type SignatureImport = Readonly<Record<SignatureKind, readonly HashedSignature[]>>;

/** The new ones, by hash. */
export type ImportedSignatures = Readonly<Record<SignatureKind, ReadonlySet<Hex>>>;

/**
 * Adds signatures that no verified contract has to confirm: a hash proves its text.
 * @param most maximum number of such signatures in total
 * @throws FullmatchError signature_budget_spent, and nothing is added
 */
export async function importSignatures(
  database: Database,
  asked: SignatureImport,
  most: number,
): Promise<ImportedSignatures> {
  const rows = (['function', 'event', 'error'] as const).flatMap((kind) =>
    asked[kind].map((each) => ({ ...each, kind })),
  );
  return database.transaction(async (transaction) => {
    await lockUntilCommit(transaction, 'signatures');
    const added = await transaction.query<{ signature_hash: Buffer; kind: string }>(
      IMPORT_SIGNATURES,
      [
        rows.map(({ hash }) => hexToBytes(hash)),
        rows.map(({ kind }) => kind),
        rows.map(({ signature }) => signature),
      ],
    );
    const [total] = await transaction.query<{ unverified: number }>(COUNT_UNVERIFIED);
    if (added.length > 0 && (total?.unverified ?? 0) > most) {
      throw new FullmatchError(
        'signature_budget_spent',
        `This service keeps at most ${most} signatures without a verified contract; verify a contract that has them.`,
      );
    }
    const newOf = (kind: string): ReadonlySet<Hex> =>
      new Set(
        added
          .filter((each) => each.kind === kind)
          .map(({ signature_hash }) => bytesToHex(signature_hash)),
      );
    return { function: newOf('function'), event: newOf('event'), error: newOf('error') };
  });
}
