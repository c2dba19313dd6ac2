import { bindDatabase, type Bound } from '../../store/bind-database.ts';
import { type Queryable } from '../../store/database.ts';
import { readEvidence } from '../evidence/read-evidence.ts';
import { listContracts } from '../lists/list-contracts.ts';
import { readFile } from '../tree/read-file.ts';
import { readSourcePage } from '../tree/read-source-page.ts';
import { findOnChains } from './find-on-chains.ts';
import { readAlternative } from './read-alternatives.ts';
import { readContractEvents } from './read-contract-events.ts';
import { readContract, readRecord, readRecordVersion } from './read-contract.ts';

const READERS = {
  readContract,
  readRecordVersion,
  readRecord,
  readEvidence,
  readContractEvents,
  readAlternative,
  listContracts,
  findOnChains,
  readSourcePage,
  readFile,
};

/** All that reads verified contracts, for those who know no database. Addresses are lower-case hex. */
export type ContractReader = Bound<typeof READERS>;

/** Binds the readers to a database. */
export function createContractReader(database: Queryable): ContractReader {
  return bindDatabase(READERS, database);
}
