import { createHash } from 'node:crypto';
import { bytesToHex, type Hex } from '../../src/lib/hex.ts';
import { sql, type Database } from '../../src/store/database.ts';

/**
 * A fifth of the contracts of {@link fillManyContracts} share one bytecode, and a tenth one compilation; no
 * address begins with 0xf, and chain 77 is empty.
 */
export const MANY_CONTRACTS = {
  chains: 5,
  /** Name of half of the compilations. */
  frequentName: 'GreatToken',
  /** Name of the compilation of a tenth of the contracts. */
  clonedName: 'MinimalClone',
  cloneCompilation: '00000000-0000-4000-8000-000000000000',
  /** A contract with 1,000 events. */
  eventful: { chainId: 2, number: 1 },
} as const;

/** The address of a contract by its number, which is also its match id. */
export function manyAddress(number: number): Hex {
  const key = Buffer.alloc(4);
  key.writeInt32BE(number);
  const bytes = createHash('sha256').update(key).digest().subarray(0, 20);
  bytes[0] = number % 240;
  return bytesToHex(bytes);
}

/** Each compilation except the cloned one has five contracts. */
const CONTRACTS_OF_A_COMPILATION = 5;

/** SQL statements that create `contracts` contracts, their evidence and events, without counts and sources. */
function steps(contracts: number): readonly string[] {
  const numbers = `generate_series(1, ${contracts}) AS n`;
  const compilations = Math.ceil(contracts / CONTRACTS_OF_A_COMPILATION);
  const { chains, frequentName, clonedName, cloneCompilation, eventful } = MANY_CONTRACTS;
  const compilationOf = (n: string): string =>
    `CASE WHEN ${n} % 10 = 0 THEN '${cloneCompilation}' ELSE md5('compilation' || ${n} / ${CONTRACTS_OF_A_COMPILATION})::uuid END`;
  const deploymentOf = (n: string): string => `md5('deployment' || ${n})::uuid`;
  const codeOf = (n: string): string => `int4send(CASE WHEN ${n} % 5 = 0 THEN 0 ELSE ${n} / 3 END)`;
  const address = `set_byte(substring(sha256(int4send(n)) FOR 20), 0, n % 240)`;
  return [
    // Without triggers and foreign key checks: the inserted rows are consistent.
    `SET LOCAL session_replication_role = replica`,
    `INSERT INTO code (code_hash, code_hash_keccak, code)
     SELECT sha256(code), sha256(sha256(code)), code FROM (SELECT DISTINCT ${codeOf('n')} AS code FROM ${numbers}) AS codes`,
    `INSERT INTO contracts (id, runtime_code_hash)
     SELECT md5('code' || encode(code, 'hex'))::uuid, code_hash FROM code WHERE code IS NOT NULL`,
    `INSERT INTO compiled_contracts (id, compiler, version, language, name, fully_qualified_name, compiler_settings, compilation_artifacts)
     SELECT md5('compilation' || n)::uuid, 'solc', '0.8.' || n % 30, 'solidity', name, name, '{}'::jsonb, '{}'::jsonb
     FROM generate_series(0, ${compilations}) AS n
     CROSS JOIN LATERAL (SELECT CASE WHEN n % 2 = 0 THEN '${frequentName}' ELSE 'Name' || n || 'x' END AS name) AS named
     UNION ALL SELECT '${cloneCompilation}', 'solc', '0.8.20', 'solidity', '${clonedName}', '${clonedName}', '{}'::jsonb, '{}'::jsonb`,
    `INSERT INTO contract_names (compilation_id, ending) SELECT id, name_endings(name) FROM compiled_contracts`,
    `INSERT INTO contract_deployments (id, chain_id, address, contract_id)
     SELECT ${deploymentOf('n')}, 1 + n % ${chains}, ${address}, md5('code' || encode(${codeOf('n')}, 'hex'))::uuid FROM ${numbers}`,
    `INSERT INTO verified_contracts (id, deployment_id, compilation_id, creation_match, runtime_match, runtime_metadata_match)
     SELECT n, ${deploymentOf('n')}, ${compilationOf('n')}, false, true, n % 4 = 0 FROM ${numbers}`,
    `INSERT INTO current_matches (chain_id, address, runtime_match, origin, trust, verified_contract_id, runtime_code_hash)
     SELECT 1 + n % ${chains}, ${address}, (CASE WHEN n % 4 = 0 THEN 'full' ELSE 'partial' END)::match,
       (CASE WHEN n % 3 = 0 THEN 'verified' ELSE 'imported' END)::match_origin,
       (CASE WHEN n % 3 = 0 THEN 'verified' ELSE 'claimed' END)::match_trust, n, sha256(${codeOf('n')}) FROM ${numbers}`,
    `INSERT INTO match_events (kind, chain_id, address, match_after, runtime_match, origin, verified_contract_id)
     SELECT 'stored', chain_id, address, match, runtime_match, origin, verified_contract_id FROM current_matches`,
    `INSERT INTO match_events (kind, chain_id, address, match_before, match_after, runtime_match, origin)
     SELECT 'upgraded', ${eventful.chainId}, ${address}, 'full', 'full', 'full', 'imported'
     FROM generate_series(1, 1000), (SELECT ${eventful.number}) AS one (n)`,
    `INSERT INTO alternative_matches (chain_id, address, text_hash, verified_contract_id)
     SELECT chain_id, address, sha256(address), verified_contract_id FROM current_matches WHERE match = 'partial'`,
  ];
}

/** Fills an empty database with this many contracts through SQL: 100,000 take seconds. */
export async function fillManyContracts(database: Database, contracts: number): Promise<void> {
  await database.transaction(async (transaction) => {
    for (const [index, text] of steps(contracts).entries()) {
      await transaction.query(sql(`fill contracts ${index}`, text));
    }
  });
  await database.query(sql('vacuum contracts', 'VACUUM ANALYZE'));
}
