import { type Hex } from '../../lib/hex.ts';
import { type Queryable } from '../../store/database.ts';
import {
  type ListQuestion,
  type PageQuestion,
  type SummaryPage,
} from '../matches/contract-summary.ts';
import { listNewestContracts } from './list-newest-contracts.ts';
import {
  findSameCode,
  searchByAddress,
  searchByCodeHash,
  searchByName,
} from './search-contracts.ts';

/** All that lists and searches verified contracts, for those who know no database. Hex is in lower case. */
export interface ContractLists {
  /** See {@link listNewestContracts}. */
  listNewest(question: ListQuestion): Promise<SummaryPage>;
  /** See {@link searchByAddress}. */
  searchByAddress(digits: string, question: ListQuestion): Promise<SummaryPage>;
  /** See {@link searchByName}. */
  searchByName(text: string, question: ListQuestion): Promise<SummaryPage>;
  /** See {@link searchByCodeHash}. */
  searchByCodeHash(hash: Hex, question: ListQuestion): Promise<SummaryPage>;
  /** See {@link findSameCode}. */
  findSameCode(
    contract: { readonly chainId: number; readonly address: Hex },
    page: PageQuestion,
  ): Promise<SummaryPage | undefined>;
}

/** The lists of a database. */
export function createContractLists(database: Queryable): ContractLists {
  return {
    listNewest: (question) => listNewestContracts(database, question),
    searchByAddress: (digits, question) => searchByAddress(database, digits, question),
    searchByName: (text, question) => searchByName(database, text, question),
    searchByCodeHash: (hash, question) => searchByCodeHash(database, hash, question),
    findSameCode: (contract, page) => findSameCode(database, contract, page),
  };
}
