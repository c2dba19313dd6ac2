import { checksumAddress, type Hex } from '../../../lib/hex.ts';
import { isMembers, membersOf } from '../../../lib/members.ts';
import type { ContractSections } from '../../../repository/repository.ts';
import { splitQualifiedName } from '../../../solidity/library-id.ts';
import { isOptimized } from '../../../solidity/optimizer-state.ts';
import { type ResponseOf } from '../../answer.ts';
import { LANGUAGE_NAMES, renderSources } from '../v2/render-contract.ts';
import { RESULT_TEXTS } from './etherscan-texts.ts';
import { type sourceRecordSchema } from './etherscan-wire.ts';

type SourceRecord = ResponseOf<typeof sourceRecordSchema>;

/** Sections that {@link renderSourceRecord} shows. */
export const SOURCE_RECORD_SECTIONS = [
  'compilation',
  'sources',
  'artifacts',
  'creationCode',
  'runtimeCode',
] as const satisfies readonly (keyof ContractSections)[];

/** The record of an unverified contract. */
export const UNVERIFIED_RECORD: SourceRecord = {
  SourceCode: '',
  ABI: RESULT_TEXTS.notVerified,
  ContractName: '',
  ContractFileName: '',
  CompilerVersion: '',
  CompilerType: '',
  OptimizationUsed: '',
  Runs: '',
  ConstructorArguments: '',
  EVMVersion: 'Default',
  Library: '',
  LicenseType: '',
  Proxy: '0',
  Implementation: '',
  SwarmSource: '',
  SimilarMatch: '',
};

/** Returns the ABI as JSON text; an empty ABI for a contract without one, such as a Yul contract. */
export function renderAbi({ artifacts }: Partial<ContractSections>): string {
  return JSON.stringify(artifacts?.['abi'] ?? []);
}

/**
 * Renders a verified contract in the format of `getsourcecode`.
 * @param implementation the implementation, if the contract is a known proxy
 */
export function renderSourceRecord(
  sections: Partial<ContractSections>,
  implementation: Hex | undefined,
): SourceRecord {
  const { compilation, creationCode } = sections;
  if (compilation === undefined) return UNVERIFIED_RECORD;
  const { language, version, name, fullyQualifiedName, settings } = compilation;
  const [path] = splitQualifiedName(fullyQualifiedName);
  const optimizer = membersOf(settings['optimizer']);
  const isVyper = language === 'vyper';
  const input = {
    language: LANGUAGE_NAMES[language] ?? language,
    sources: renderSources(sections),
    settings,
  };
  return {
    SourceCode: `{${JSON.stringify(input)}}`,
    ABI: renderAbi(sections),
    ContractName: name,
    ContractFileName: path,
    CompilerVersion: isVyper ? `vyper:${version.replace(/\+.*$/, '')}` : `v${version}`,
    CompilerType: isVyper ? 'vyper' : 'solc',
    OptimizationUsed: isOptimized(settings) ? '1' : '0',
    Runs: typeof optimizer['runs'] === 'number' ? String(optimizer['runs']) : '200',
    ConstructorArguments: argumentsOf(creationCode),
    EVMVersion: typeof settings['evmVersion'] === 'string' ? settings['evmVersion'] : 'Default',
    Library: librariesOf(sections)
      .map((library) => library.join(':'))
      .join(';'),
    LicenseType: licenseOf(sections.sources?.find((source) => source.path === path)?.content),
    Proxy: implementation === undefined ? '0' : '1',
    Implementation: implementation === undefined ? '' : checksumAddress(implementation),
    SwarmSource: '',
    SimilarMatch: '',
  };
}

/** Omits constructor arguments that an import only claims: the protocol cannot mark them as claims. */
export function argumentsOf(creationCode: ContractSections['creationCode'] | undefined): string {
  const { values, unprovenValues = [] } = creationCode ?? {};
  const text = values?.['constructorArguments'];
  return typeof text === 'string' && !unprovenValues.includes('arguments') ? text.slice(2) : '';
}

/** Lists the libraries from the settings and from the bytecode. */
export function librariesOf({
  compilation,
  creationCode,
  runtimeCode,
}: Partial<ContractSections>): readonly (readonly [name: string, address: string])[] {
  const configured = membersOf(compilation?.settings['libraries']);
  // Libraries of two files may share a name; list each pair of name and address once.
  const found = new Map<string, readonly [string, string]>();
  const add = (name: string, address: string): void => {
    const key = `${name}:${address.toLowerCase()}`;
    if (!found.has(key)) found.set(key, [name, address]);
  };
  for (const [path, libraries] of Object.entries(configured)) {
    // Before Solidity 0.5, settings named libraries without their source.
    const named = isMembers(libraries) ? libraries : { [path]: libraries };
    for (const [name, address] of Object.entries(named)) {
      add(name, String(address));
    }
  }
  for (const code of [creationCode, runtimeCode]) {
    for (const [id, address] of Object.entries(membersOf(code?.values?.['libraries']))) {
      add(splitQualifiedName(id)[1], String(address));
    }
  }
  return [...found.values()];
}

const LICENSE = /SPDX-License-Identifier:[ \t]{0,8}([\w.+-]{1,64})/;

/** Returns the SPDX identifier of a source. */
export function licenseOf(source = ''): string {
  return LICENSE.exec(source)?.[1] ?? '';
}
