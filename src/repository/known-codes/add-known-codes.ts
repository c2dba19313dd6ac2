import { type MaskedCode } from '../../bytecode/masked-code.ts';
import { bytesToHex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';

// Existing rows are not locked, so that concurrent writers never deadlock.
const ADD_CODES = sql(
  'add known codes',
  `INSERT INTO known_codes (plain_hash, masked_hash, prefix_hash, length, constants)
   SELECT plain, masked, prefix, length, string_to_array(constants, ',')::bigint[]
   FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::integer[], $5::text[])
     AS row (plain, masked, prefix, length, constants)
   ORDER BY plain ON CONFLICT DO NOTHING`,
);
const ADD_CONTRACTS = sql(
  'add known contracts',
  `INSERT INTO known_contracts (compilation_id, known_code_id, fully_qualified_name, metadata_key, is_compiled)
   SELECT compilation_id, known_codes.id, name, metadata_key, is_compiled
   FROM unnest($1::uuid[], $2::bytea[], $3::text[], $4::bytea[], $5::boolean[])
     AS row (compilation_id, plain, name, metadata_key, is_compiled)
   JOIN known_codes ON plain_hash = plain
   ORDER BY compilation_id, name COLLATE "C" ON CONFLICT DO NOTHING`,
);

/** A contract of a compilation, with the keys of its runtime bytecode. */
export interface KnownContract {
  readonly compilationId: string;
  readonly fullyQualifiedName: string;
  readonly code: MaskedCode;
  /** Whether it is the contract that was compiled; otherwise another one of the same sources. */
  readonly isCompiled: boolean;
}

/** Constants written in one statement: some milliseconds of the serving thread. */
const CONSTANTS_AT_ONCE = 5_000;

/** Adds contracts to the index in batches; existing ones stay unchanged. */
export async function addKnownCodes(
  transaction: Queryable,
  contracts: readonly KnownContract[],
): Promise<void> {
  let constants = 0;
  let begin = 0;
  for (const [index, { code }] of contracts.entries()) {
    constants += code.constants.length;
    if (constants < CONSTANTS_AT_ONCE && index < contracts.length - 1) continue;
    await addSome(transaction, contracts.slice(begin, index + 1));
    constants = 0;
    begin = index + 1;
  }
}

async function addSome(transaction: Queryable, contracts: readonly KnownContract[]): Promise<void> {
  const codes = [
    ...new Map(contracts.map(({ code }) => [bytesToHex(code.plainHash), code])).values(),
  ];
  await transaction.query(ADD_CODES, [
    codes.map(({ plainHash }) => plainHash),
    codes.map(({ maskedHash }) => maskedHash),
    codes.map(({ prefixHash }) => prefixHash),
    codes.map(({ length }) => length),
    codes.map(({ constants }) => constants.join(',')),
  ]);
  await transaction.query(ADD_CONTRACTS, [
    contracts.map(({ compilationId }) => compilationId),
    contracts.map(({ code }) => code.plainHash),
    contracts.map(({ fullyQualifiedName }) => fullyQualifiedName),
    contracts.map(({ code }) => code.metadataKey ?? null),
    contracts.map(({ isCompiled }) => isCompiled),
  ]);
}
