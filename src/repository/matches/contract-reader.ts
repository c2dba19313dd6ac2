import { type Hex } from '../../lib/hex.ts';
import { type Queryable } from '../../store/database.ts';
import { type ContractMatch } from './contract-match.ts';
import { type ContractPart } from './contract-parts.ts';
import { findOnChains } from './find-on-chains.ts';
import { type ContractPage, listContracts } from '../lists/list-contracts.ts';
import { type AlternativeText, readAlternative } from './read-alternatives.ts';
import {
  readContract,
  readRecord,
  readRecordVersion,
  type RecordVersion,
  type StoredRecord,
} from './read-contract.ts';
import { type ContractEvent, readContractEvents } from './read-contract-events.ts';
import { type MatchEvidence, readEvidence } from '../evidence/read-evidence.ts';
import { readSourcePage, type SourcePage, type SourceQuestion } from '../tree/read-source-page.ts';
import { type ContractFile, readFile } from '../tree/read-file.ts';

/** All that reads verified contracts, for those who know no database. Addresses are lower-case hex. */
export interface ContractReader {
  /** See {@link readContract}. */
  readContract(chainId: number, address: Hex): Promise<ContractMatch | undefined>;
  /** See {@link readRecordVersion}. */
  readRecordVersion(chainId: number, address: Hex): Promise<RecordVersion | undefined>;
  /** See {@link readRecord}. */
  readRecord(
    chainId: number,
    address: Hex,
    parts: readonly ContractPart[],
  ): Promise<StoredRecord | undefined>;
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
  /** See {@link readFile}. */
  readFile(chainId: number, address: Hex, path: string): Promise<ContractFile | undefined>;
}

/** The reader of a database. */
export function createContractReader(database: Queryable): ContractReader {
  return {
    readContract: (chainId, address) => readContract(database, chainId, address),
    readRecordVersion: (chainId, address) => readRecordVersion(database, chainId, address),
    readRecord: (chainId, address, parts) => readRecord(database, chainId, address, parts),
    readEvidence: (chainId, address) => readEvidence(database, chainId, address),
    readContractEvents: (chainId, address) => readContractEvents(database, chainId, address),
    readAlternative: (chainId, address, matchId) =>
      readAlternative(database, chainId, address, matchId),
    listContracts: (chainId, page) => listContracts(database, chainId, page),
    findOnChains: (addresses, chainIds) => findOnChains(database, addresses, chainIds),
    readSourcePage: (chainId, address, question) =>
      readSourcePage(database, chainId, address, question),
    readFile: (chainId, address, path) => readFile(database, chainId, address, path),
  };
}
