import { checksumAddress, type Hex } from '../../../../lib/hex.ts';
import { type Members, membersOf } from '../../../../lib/members.ts';
import type { ContractMatch, ContractSections } from '../../../../repository/repository.ts';
import { type ResponseOf } from '../../../answer.ts';
import { splitQualifiedName } from '../../../../solidity/library-id.ts';
import { isOptimized } from '../../../../solidity/optimizer-state.ts';
import { RESULT_TEXTS } from '../../etherscan/etherscan-texts.ts';
import { argumentsOf, librariesOf, licenseOf, renderAbi } from '../../etherscan/source-record.ts';
import { type blockscoutRecordSchema } from '../../etherscan/etherscan-wire.ts';
import { type smartContractSchema } from './explorer-routes.ts';

type SmartContract = ResponseOf<typeof smartContractSchema>;
type SourceRecord = ResponseOf<typeof blockscoutRecordSchema>;

const DEFAULT_RUNS = 200;

/** A contract without a match, in the format of Blockscout's API. */
export const UNVERIFIED_CONTRACT: SmartContract = {
  is_verified: false,
  is_fully_verified: false,
  is_partially_verified: false,
};

/** Renders a verified contract in the format of Blockscout's API. */
export function renderSmartContract(
  match: ContractMatch,
  sections: Partial<ContractSections>,
): SmartContract {
  const verdict = {
    is_verified: true,
    is_fully_verified: match.match === 'full',
    is_partially_verified: match.match === 'partial',
    verified_at: match.verifiedAt.toISOString(),
  };
  const { compilation, artifacts, creationCode } = sections;
  if (compilation === undefined) return verdict;
  const { path, content, others } = splitSources(sections);
  const abi = artifacts?.['abi'];
  return {
    ...verdict,
    name: compilation.name,
    language: compilation.language,
    compiler_version: `v${compilation.version}`,
    compiler_settings: compilation.settings,
    optimization_enabled: isVyper(compilation) ? null : isOptimized(compilation.settings),
    optimization_runs: runsOf(compilation),
    evm_version: evmVersionOf(compilation.settings),
    abi: Array.isArray(abi) ? (abi as unknown[]) : null,
    file_path: path,
    source_code: content,
    additional_sources: others.map(([at, text]) => ({ file_path: at, source_code: text })),
    constructor_args: argumentsOf(creationCode) || null,
  };
}

/** Renders a contract without a match in the format of Blockscout's `getsourcecode`. */
export function renderUnverifiedRecord(address: Hex): SourceRecord {
  return {
    ...{ Address: address, SourceCode: '', ABI: RESULT_TEXTS.notVerified },
    ...{ ContractName: '', CompilerVersion: '' },
  };
}

/**
 * Renders a verified contract in the format of Blockscout's `getsourcecode`.
 * @param implementation the implementation, if the contract is a known proxy
 */
export function renderBlockscoutRecord(
  { address, verifiedAt }: ContractMatch,
  sections: Partial<ContractSections>,
  implementation: Hex | undefined,
): SourceRecord {
  const { compilation, creationCode } = sections;
  if (compilation === undefined) return renderUnverifiedRecord(address);
  const { path, content, others } = splitSources(sections);
  const libraries = librariesOf(sections);
  const constructorArguments = argumentsOf(creationCode);
  return {
    Address: address,
    SourceCode: content,
    ABI: renderAbi(sections),
    ContractName: compilation.name,
    FileName: path,
    ...(others.length > 0 && {
      AdditionalSources: others.map(([at, text]) => ({ Filename: at, SourceCode: text })),
    }),
    CompilerVersion: `v${compilation.version}`,
    CompilerSettings: compilation.settings,
    OptimizationUsed: !isVyper(compilation) && isOptimized(compilation.settings) ? 'true' : 'false',
    OptimizationRuns: runsOf(compilation) ?? DEFAULT_RUNS,
    EVMVersion: evmVersionOf(compilation.settings),
    ConstructorArguments: constructorArguments,
    ...(libraries.length > 0 && {
      ExternalLibraries: libraries.map(([name, at]) => ({ name, address_hash: at })),
    }),
    LicenseType: licenseOf(content),
    IsProxy: implementation === undefined ? 'false' : 'true',
    ...(implementation !== undefined && { ImplementationAddress: checksumAddress(implementation) }),
    VerifiedAt: verifiedAt.toISOString(),
  };
}

type Compilation = ContractSections['compilation'];

/** Splits the sources into the contract's own file and the other files. */
function splitSources({ compilation, sources = [] }: Partial<ContractSections>) {
  const [path] = splitQualifiedName(compilation?.fullyQualifiedName ?? '');
  const content = sources.find((source) => source.path === path)?.content ?? '';
  const others = sources
    .filter((source) => source.path !== path)
    .map((source) => [source.path, source.content] as const);
  return { path, content, others };
}

const optimizerOf = ({ settings }: Compilation): Members => membersOf(settings['optimizer']);

/** Vyper has different optimizer settings. */
const isVyper = ({ language }: Compilation): boolean => language === 'vyper';

function runsOf(compilation: Compilation): number | null {
  if (isVyper(compilation)) return null;
  const { runs } = optimizerOf(compilation);
  return Number.isSafeInteger(runs) ? Number(runs) : DEFAULT_RUNS;
}

const evmVersionOf = ({ evmVersion }: Members): string =>
  typeof evmVersion === 'string' ? evmVersion : 'default';
