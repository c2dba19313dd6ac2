/** Verified contracts: stored, read, listed, counted and followed. Other rooms import only this file. */
export { ContractStage } from './bulk/contract-stage.ts';
export {
  ContractPacker,
  type PackedContract,
  type PackedContracts,
} from './bulk/packed-contracts.ts';
export type { CodeHashes, MatchEvidence } from './evidence/read-evidence.ts';
export { renewMatcherVersion } from './evidence/renew-matcher-version.ts';
export {
  FEED_START,
  type FeedEntry,
  type FeedCursor,
  FeedReader,
  type MatchEvent,
  type OpenedFeed,
  readFeedPosition,
} from './feed/feed-reader.ts';
export { followFeed, readFeedLags } from './feed/follow-feed.ts';
export { findLostEvents, readDatabaseIdentity, readNewestMarks } from './feed/lost-events.ts';
export { sequenceEvents } from './feed/sequence-events.ts';
export {
  type CurrentCompilation,
  isCompilationCurrent,
  readCurrentCompilation,
} from './known-codes/current-compilations.ts';
export {
  findKnownCodes,
  findSimilarCodes,
  type KnownCandidate,
} from './known-codes/find-known-codes.ts';
export { indexStoredCodes } from './known-codes/index-stored-codes.ts';
export {
  addOtherContracts,
  isProjectIndexed,
  listUnindexed,
  markIndexed,
} from './known-codes/other-contracts.ts';
export { readStoredCompilation, type StoredCompilation } from './known-codes/read-compilation.ts';
export { type ContractLists, createContractLists } from './lists/contract-lists.ts';
export { listContracts } from './lists/list-contracts.ts';
export { listMatchesToReverify, type ReverifyFilter } from './lists/list-matches-to-reverify.ts';
export { deleteAlternatives } from './matches/alternative-matches.ts';
export { attachCreation } from './matches/attach-creation.ts';
export {
  type Contradiction,
  settleContradictions,
  withdrawContradicted,
} from './matches/contradictions.ts';
export type { ContractMatch } from './matches/contract-match.ts';
export {
  type ContractSection,
  type ContractSections,
  parseSections,
  type StoredCode,
  type StoredSections,
} from './matches/contract-sections.ts';
export { type ContractReader, createContractReader } from './matches/contract-reader.ts';
export type { ContractSummary, ListQuery, SummaryPage } from './matches/contract-summary.ts';
export { correctDeployment, DEPLOYMENT_CORRECTED } from './matches/correct-deployment.ts';
export type { NamedContract } from './matches/find-verified.ts';
export { findStoredSources, type StoredSources } from './matches/find-stored-sources.ts';
export { MATCHES_CHANNEL } from './matches/match-notifications.ts';
export {
  CLAIM_DISPROVED,
  CODE_REPLACED,
  contractChanged,
  CREATION_DISPROVED,
  CREATION_REPLACED,
  CREATION_ROLLED_BACK,
  readNewestEvent,
} from './matches/outdated-reading.ts';
export type { Alternative, AlternativeText } from './matches/read-alternatives.ts';
export { readRecord, type RecordVersion } from './matches/read-contract.ts';
export type { SourcePage, SourceQuery } from './tree/read-source-page.ts';
export { readWithdrawnMatch, type WithdrawnMatch } from './matches/read-withdrawn-match.ts';
export { type CurrentMatch, readCurrentMatches } from './matches/read-current-matches.ts';
export { type AdditionalChange, type SavedMatch, saveMatch } from './matches/save-matches.ts';
export {
  compilationId,
  hashOf,
  cacheSourceHash,
  sha256,
  textHash,
} from './matches/verified-contract-identity.ts';
export type {
  CodeReading,
  Compilation,
  Deployment,
  Match,
  Source,
  Transformed,
  VerifiedContract,
} from './matches/verified-contract.ts';
export { markRecompiled } from './matches/raise-trust.ts';
export { hideSources, withdrawMatch } from './matches/withdraw-match.ts';
export { indexSignatures } from './signatures/index-signatures.ts';
export type { ImportedSignatures, SignatureImport } from './signatures/import-signatures.ts';
export type { EventInputs, SignatureName, SignatureTotals } from './signatures/find-signatures.ts';
export type { DecodedAbi, DecodedArgument, LogEntry } from './signatures/decode-values.ts';
export {
  createSignatureDatabase,
  type SignatureDatabase,
} from './signatures/signature-database.ts';
export { type CountDifference, recount, type Recount } from './statistics/recount.ts';
export {
  type HistoryQuery,
  readStatisticsHistory,
  type StatisticsHistory,
} from './statistics/statistics-history.ts';
export {
  type CountsWithClaims,
  type MatchCounts,
  readStatisticsOverview,
  type StatisticsOverview,
} from './statistics/statistics-overview.ts';
export {
  readClaims,
  readContractChainIds,
  readStatistics,
  renderStatistics,
  type Statistics,
} from './statistics/statistics.ts';
export {
  FILE_SECTIONS,
  FILE_PATH_SECTIONS,
  listFiles,
  filesOf,
  filesOfV2,
  type RepositoryFile,
} from './tree/read-files.ts';
export { UNLISTED_SCHEMA } from './unlisted-schema.ts';
