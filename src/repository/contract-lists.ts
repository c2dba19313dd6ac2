import { type Hex } from '../lib/hex.ts';
import { type Queryable } from '../store/database.ts';
import { type SummaryPage } from './contract-summary.ts';
import { listNewestContracts, type NewestQuestion } from './list-newest-contracts.ts';
import {
  findSameCode,
  searchByAddress,
  searchByCodeHash,
  searchByName,
  type SearchPage,
} from './search-contracts.ts';

/** All that lists and searches verified contracts, for those who know no database. Hex is in lower case. */
export interface ContractLists {
  /** See {@link listNewestContracts}. */
  listNewest(question: NewestQuestion): Promise<SummaryPage>;
  /** See {@link searchByAddress}. */
  searchByAddress(digits: string, page: SearchPage): Promise<SummaryPage>;
  /** See {@link searchByName}. */
  searchByName(text: string, page: SearchPage): Promise<SummaryPage>;
  /** See {@link searchByCodeHash}. */
  searchByCodeHash(hash: Hex, page: SearchPage): Promise<SummaryPage>;
  /** See {@link findSameCode}. */
  findSameCode(
    contract: { readonly chainId: number; readonly address: Hex },
    page: SearchPage,
  ): Promise<SummaryPage | undefined>;
}

/** The lists of a database. */
export function createContractLists(database: Queryable): ContractLists {
  return {
    listNewest: (question) => listNewestContracts(database, question),
    searchByAddress: (digits, page) => searchByAddress(database, digits, page),
    searchByName: (text, page) => searchByName(database, text, page),
    searchByCodeHash: (hash, page) => searchByCodeHash(database, hash, page),
    findSameCode: (contract, page) => findSameCode(database, contract, page),
  };
}
