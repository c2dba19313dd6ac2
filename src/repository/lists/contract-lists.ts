import { bindDatabase, type Bound } from '../../store/bind-database.ts';
import { type Queryable } from '../../store/database.ts';
import { readFeedPage } from '../feed/feed-reader.ts';
import { listNewestContracts } from './list-newest-contracts.ts';
import { findSameCode, searchByAddress, searchByHash, searchByName } from './search-contracts.ts';

const LISTS = {
  readFeedPage,
  listNewest: listNewestContracts,
  searchByAddress,
  searchByName,
  searchByHash,
  findSameCode,
};

/** Lists and searches of verified contracts, for callers that do not know the database. Hex is in lower case. */
export type ContractLists = Bound<typeof LISTS>;

/** Binds the lists to a database. */
export function createContractLists(database: Queryable): ContractLists {
  return bindDatabase(LISTS, database);
}
