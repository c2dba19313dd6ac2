import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { type Match } from '../matches/verified-contract.ts';

/** Current matches of stored evidence, for an EXISTS that selects the compilation. */
export const CURRENT_MATCHES = `SELECT FROM verified_contracts
     JOIN contract_deployments ON contract_deployments.id = deployment_id
     JOIN current_matches ON current_matches.chain_id = contract_deployments.chain_id
       AND current_matches.address = contract_deployments.address
       AND verified_contract_id = verified_contracts.id`;

const IS_COMPILATION_CURRENT = sql(
  'is compilation current',
  `SELECT EXISTS (${CURRENT_MATCHES} WHERE compilation_id = $1) AS is_current`,
);
const READ_CURRENT_COMPILATION = sql(
  'read current compilation',
  `SELECT compilation_id, current_matches.match, creation_values, runtime_values FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   WHERE chain_id = $1 AND address = $2`,
);

/** Whether a contract has a current match of this compilation: withdrawn evidence stays stored. */
export async function isCompilationCurrent(
  database: Queryable,
  compilationId: string,
): Promise<boolean> {
  const [row] = await database.query<{ is_current: boolean }>(IS_COMPILATION_CURRENT, [
    compilationId,
  ]);
  return row?.is_current === true;
}

/** Values of a deployment that are sent to explorers. */
export interface DeployedValues {
  readonly constructorArguments?: string;
  readonly libraries?: Readonly<Record<string, string>>;
}

/** Compilation and deployment of an address's current match. */
export interface CurrentCompilation {
  readonly compilationId: string;
  readonly match: Match;
  readonly creationValues: DeployedValues;
  readonly runtimeValues: DeployedValues;
}

/** The compilation of the current match of an address; undefined without a match. */
export async function readCurrentCompilation(
  database: Queryable,
  chainId: number,
  address: Hex,
): Promise<CurrentCompilation | undefined> {
  const [row] = await database.query<{
    compilation_id: string;
    match: Match;
    creation_values: DeployedValues | null;
    runtime_values: DeployedValues | null;
  }>(READ_CURRENT_COMPILATION, [chainId, hexToBytes(address)]);
  return (
    row && {
      compilationId: row.compilation_id,
      match: row.match,
      creationValues: row.creation_values ?? {},
      runtimeValues: row.runtime_values ?? {},
    }
  );
}
