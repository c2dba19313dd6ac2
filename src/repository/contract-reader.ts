import { type Hex } from '../lib/hex.ts';
import { type Queryable } from '../store/database.ts';
import { type ContractMatch } from './contract-match.ts';
import { findOnChains } from './find-on-chains.ts';
import { type ContractPage, listContracts } from './list-contracts.ts';
import { type AlternativeText, readAlternative } from './read-alternatives.ts';
import { type ContractPart, readContract, type StoredContract } from './read-contract.ts';
import { type ContractEvent, readContractEvents } from './read-contract-events.ts';
import { type MatchEvidence, readEvidence } from './read-evidence.ts';
import { readSourcePage, type SourcePage, type SourceQuestion } from './read-source-page.ts';
import { type ContractFile, readFile } from './read-file.ts';
import { type ContractFiles, readFiles } from './read-files.ts';

/** All that reads verified contracts, for those who know no database. Addresses are lower-case hex. */
export interface ContractReader {
  /** See {@link readContract}. */
  readContract(
    chainId: number,
    address: Hex,
    parts?: readonly ContractPart[],
  ): Promise<StoredContract | undefined>;
  /** See {@link readEvidence}. */
  readEvidence(chainId: number, address: Hex): Promise<MatchEvidence | undefined>;
  /** See {@link readContractEvents}. */
  readContractEvents(chainId: number, address: Hex): Promise<readonly ContractEvent[]>;
  /** See {@link readAlternative}. */
  readAlternative(
    chainId: number,
    address: Hex,
    matchId: string,
  ): Promise<AlternativeText | undefined>;
  /** See {@link listContracts}. */
  listContracts(chainId: number, page: ContractPage): Promise<readonly ContractMatch[]>;
  /** See {@link findOnChains}. */
  findOnChains(
    addresses: readonly Hex[],
    chainIds?: readonly number[],
  ): Promise<readonly ContractMatch[]>;
  /** See {@link readSourcePage}. */
  readSourcePage(
    chainId: number,
    address: Hex,
    question: SourceQuestion,
  ): Promise<SourcePage | undefined>;
  /** See {@link readFiles}. */
  readFiles(chainId: number, address: Hex): Promise<ContractFiles | undefined>;
  /** See {@link readFile}. */
  readFile(chainId: number, address: Hex, path: string): Promise<ContractFile | undefined>;
}

/** The reader of a database. */
export function createContractReader(database: Queryable): ContractReader {
  return {
    readContract: (chainId, address, parts) => readContract(database, chainId, address, parts),
    readEvidence: (chainId, address) => readEvidence(database, chainId, address),
    readContractEvents: (chainId, address) => readContractEvents(database, chainId, address),
    readAlternative: (chainId, address, matchId) =>
      readAlternative(database, chainId, address, matchId),
    listContracts: (chainId, page) => listContracts(database, chainId, page),
    findOnChains: (addresses, chainIds) => findOnChains(database, addresses, chainIds),
    readSourcePage: (chainId, address, question) =>
      readSourcePage(database, chainId, address, question),
    readFiles: (chainId, address) => readFiles(database, chainId, address),
    readFile: (chainId, address, path) => readFile(database, chainId, address, path),
  };
}
