import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';

/** Creation of a verified contract, as far as it was seen on chain. */
export interface ContractCreation {
  readonly address: Hex;
  readonly transactionHash: Hex;
  readonly blockNumber: number;
  /** The account that executed CREATE or CREATE2: the sender of the transaction, or a factory. */
  readonly deployer: Hex;
  /** The creation bytecode with its constructor arguments. */
  readonly creationCode?: Hex;
}

// An import has a block only if the transaction was proven here: without one it is a claim.
const FIND_CREATIONS = sql(
  'find creations',
  `SELECT current_matches.address, transaction_hash, block_number, deployer, code.code AS creation_code
   FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN contract_deployments ON contract_deployments.id = deployment_id
   JOIN contracts ON contracts.id = contract_id
   LEFT JOIN code ON code.code_hash = contracts.creation_code_hash
   WHERE current_matches.chain_id = $1 AND current_matches.address = ANY ($2::bytea[])
     AND transaction_hash IS NOT NULL AND block_number IS NOT NULL AND deployer IS NOT NULL`,
);

/**
 * The known creations of verified contracts, in the order of the addresses (lower-case hex).
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function findCreations(
  database: Queryable,
  chainId: number,
  addresses: readonly Hex[],
): Promise<readonly ContractCreation[]> {
  const rows = await database.query<{
    address: Buffer;
    transaction_hash: Buffer;
    block_number: string;
    deployer: Buffer;
    creation_code: Buffer | null;
  }>(FIND_CREATIONS, [chainId, addresses.map(hexToBytes)]);
  const found = rows.map((row) => ({
    address: bytesToHex(row.address),
    transactionHash: bytesToHex(row.transaction_hash),
    blockNumber: Number(row.block_number),
    deployer: bytesToHex(row.deployer),
    ...(row.creation_code !== null && { creationCode: bytesToHex(row.creation_code) }),
  }));
  return addresses.flatMap((address) => found.find((each) => each.address === address) ?? []);
}
