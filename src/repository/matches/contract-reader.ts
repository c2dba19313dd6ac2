import { ReadCoalescer } from '../../lib/read-coalescer.ts';
import { bindDatabase, type Bound } from '../../store/bind-database.ts';
import { type Queryable } from '../../store/database.ts';
import { readEvidence } from '../evidence/read-evidence.ts';
import { listAddresses, listContracts } from '../lists/list-contracts.ts';
import { readFile } from '../tree/read-file.ts';
import { readSourcePage, readWithdrawnSourcePage } from '../tree/read-source-page.ts';
import { findCreations } from './find-creations.ts';
import { findOnChains } from './find-on-chains.ts';
import { findVerified } from './find-verified.ts';
import { readAlternative } from './read-alternatives.ts';
import { readContractEvents } from './read-contract-events.ts';
import {
  readContract,
  readRecord,
  readRecordVersion,
  type RecordVersion,
} from './read-contract.ts';
import { readWithdrawnMatch } from './read-withdrawn-match.ts';

const READERS = {
  readContract,
  readRecordVersion,
  readRecord,
  readEvidence,
  readContractEvents,
  readAlternative,
  listContracts,
  listAddresses,
  findOnChains,
  findVerified,
  findCreations,
  readSourcePage,
  readWithdrawnMatch,
  readWithdrawnSourcePage,
  readFile,
};

/** Reads verified contracts, for callers that do not know the database. Addresses are lower-case hex. */
export type ContractReader = Bound<typeof READERS>;

/** Binds a reader to a database. Concurrent requests for one record query its version once. */
export function createContractReader(database: Queryable): ContractReader {
  const readers = bindDatabase(READERS, database);
  const versions = new ReadCoalescer<RecordVersion | undefined>();
  return {
    ...readers,
    readRecordVersion: (chainId, address) =>
      versions.ask(`${chainId} ${address}`, () => readers.readRecordVersion(chainId, address)),
  };
}
