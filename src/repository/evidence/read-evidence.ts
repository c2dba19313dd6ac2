import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import {
  type ContractMatch,
  type MatchRow,
  QUALIFIED_MATCH_COLUMNS,
  toContractMatch,
} from '../matches/contract-match.ts';
import { type Alternative, readAlternatives } from '../matches/read-alternatives.ts';
import {
  claimedFactsOf,
  provenCreationMatch,
  unprovenOf,
  type Unproven,
} from '../matches/unproven.ts';
import {
  type CodeReading,
  type CreationSearchStep,
  type Trust,
} from '../matches/verified-contract.ts';

const READ_EVIDENCE = sql(
  'read evidence',
  `SELECT ${QUALIFIED_MATCH_COLUMNS}, current_matches.trust, source, code_reading, creation_search, runtime_values,
     transaction_hash IS NOT NULL AS has_transaction, block_number IS NOT NULL AS has_block,
     coalesce(creation_values ? 'constructorArguments', false) AS has_arguments,
     contract_id IS NOT NULL AS is_code_read,
     contract_id IS NOT NULL AND coalesce(creation_transformations @> '[{"reason": "constructorArguments"}]', false) AS are_arguments_placed,
     jsonb_path_exists(compiler_settings, '$.libraries.*.*') AS has_configured_libraries,
     compiled_contracts.language, (
       SELECT substring(left(content, 10000) FROM 'SPDX-License-Identifier:[[:blank:]]{0,8}([A-Za-z0-9_.+() -]{1,100})')
       FROM compiled_contracts_sources JOIN sources USING (source_hash)
       WHERE compilation_id = compiled_contracts.id AND path = left(fully_qualified_name, -length(name) - 1)
     ) AS license, metadata_hash IS NOT NULL AND text_hash <> metadata_hash AS has_unlisted_sources,
     creation.code_hash_keccak AS creation_hash, runtime.code_hash_keccak AS runtime_hash,
     compiled_creation.code_hash_keccak AS compiled_creation_hash, compiled_runtime.code_hash_keccak AS compiled_runtime_hash
   FROM current_matches
   LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   LEFT JOIN contract_deployments ON contract_deployments.id = deployment_id
   LEFT JOIN contracts ON contracts.id = contract_id
   LEFT JOIN code AS creation ON creation.code_hash = contracts.creation_code_hash
   LEFT JOIN code AS runtime ON runtime.code_hash = contracts.runtime_code_hash
   LEFT JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   LEFT JOIN code AS compiled_creation ON compiled_creation.code_hash = compiled_contracts.creation_code_hash
     AND NOT are_codes_claimed
   LEFT JOIN code AS compiled_runtime ON compiled_runtime.code_hash = compiled_contracts.runtime_code_hash
     AND NOT are_codes_claimed
   WHERE current_matches.chain_id = $1 AND current_matches.address = $2`,
);

/** keccak256 of a contract's bytecodes, as far as they are known. */
export interface CodeHashes {
  readonly onChain?: Hex;
  readonly recompiled?: Hex;
}

/** Provenance of a match: who verified it, and what was compared. */
export interface MatchEvidence {
  readonly match: ContractMatch;
  readonly trust: Trust;
  /** Source of an imported match, such as `example.org`; absent if the import did not name it. */
  readonly source?: string;
  /** Absent if this service did not read the code on chain. */
  readonly codeReading?: CodeReading;
  /** Absent if this service did not search for the creation transaction. */
  readonly creationSearch?: readonly CreationSearchStep[];
  /**
   * Whether the shown sources include files that the metadata does not list: the compiler gives other
   * bytecode without them, and no hash proves their text.
   */
  readonly hasUnlistedSources: boolean;
  /**
   * SPDX licence in the source of the contract; absent if there is none. It is a comment, which a partial
   * match does not prove.
   */
  readonly license?: string;
  /** Other texts that compile to the bytecode of a partial match. */
  readonly alternatives: readonly Alternative[];
  readonly runtimeHashes: CodeHashes;
  readonly creationHashes: CodeHashes;
  readonly unproven: readonly Unproven[];
}

type EvidenceRow = MatchRow & {
  trust: Trust;
  source: string | null;
  code_reading: CodeReading | null;
  creation_search: CreationSearchStep[] | null;
  runtime_values: Record<string, unknown> | null;
  has_transaction: boolean;
  has_block: boolean;
  has_arguments: boolean;
  is_code_read: boolean;
  are_arguments_placed: boolean;
  has_configured_libraries: boolean | null;
  has_unlisted_sources: boolean | null;
  language: string | null;
  license: string | null;
  creation_hash: Buffer | null;
  runtime_hash: Buffer | null;
  compiled_creation_hash: Buffer | null;
  compiled_runtime_hash: Buffer | null;
};

/**
 * Reads the evidence of the current match of a contract.
 * @returns undefined if the address (lower-case hex) has no match on the chain
 */
export async function readEvidence(
  database: Queryable,
  chainId: number,
  address: Hex,
): Promise<MatchEvidence | undefined> {
  const [row] = await database.query<EvidenceRow>(READ_EVIDENCE, [chainId, hexToBytes(address)]);
  if (row === undefined) return undefined;
  const match = toContractMatch(row);
  return {
    match,
    trust: row.trust,
    ...(row.source !== null && { source: row.source }),
    unproven: unprovenOf(
      {
        ...match,
        creationMatch: provenCreationMatch(match.origin, match.creationMatch, row.is_code_read),
        values: row.runtime_values,
        language: row.language,
        hasConfiguredLibraries: row.has_configured_libraries === true,
      },
      row.creation_hash !== null && row.compiled_creation_hash !== null,
      claimedFactsOf({
        origin: match.origin,
        hasTransaction: row.has_transaction,
        hasBlock: row.has_block,
        hasArguments: row.has_arguments,
        areArgumentsPlaced: row.are_arguments_placed,
      }),
    ),
    hasUnlistedSources: row.has_unlisted_sources === true,
    ...(row.license !== null && { license: row.license.trim() }),
    alternatives: row.match === 'partial' ? await readAlternatives(database, chainId, address) : [],
    ...(row.code_reading !== null && { codeReading: row.code_reading }),
    ...(row.creation_search !== null && { creationSearch: row.creation_search }),
    runtimeHashes: toHashes(row.runtime_hash, row.compiled_runtime_hash),
    creationHashes: toHashes(row.creation_hash, row.compiled_creation_hash),
  };
}

function toHashes(onChain: Buffer | null, recompiled: Buffer | null): CodeHashes {
  return {
    ...(onChain !== null && { onChain: bytesToHex(onChain) }),
    ...(recompiled !== null && { recompiled: bytesToHex(recompiled) }),
  };
}
