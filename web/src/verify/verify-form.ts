import { findMissingImports } from '../../../src/solidity/build-standard-json.ts';
import {
  type DetectedCompilation,
  compilationOf,
  type InputFiles,
} from '../../../src/solidity/detected-compilation.ts';
import { changeInput } from './input-change.ts';
import { type VerifyFields } from './verify-fields.ts';

export { type VerifyFields } from './verify-fields.ts';

/** Default settings. */
export const NO_SETTINGS = {
  optimizer: false,
  runs: '200',
  evmVersion: '',
  viaIR: false,
  libraries: '',
  remappings: '',
} as const satisfies Partial<VerifyFields>;

/** Field that an error refers to. */
export type FieldName = Exclude<keyof VerifyFields, 'inputChange'> | 'files';

export const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const TRANSACTION = /^0x[0-9a-fA-F]{64}$/;
export const CHAIN_ID = /^[1-9][0-9]{0,15}$/;

/** Errors of the fields, each a sentence that states what is expected. */
export function findFaults(
  fields: VerifyFields,
  dropped: InputFiles | undefined,
): ReadonlyMap<FieldName, string> {
  const faults = new Map<FieldName, string>();
  if (dropped === undefined) faults.set('files', 'Choose or drop files to compile.');
  else if (dropped.kind === 'unusable') faults.set('files', dropped.reason);
  if (!CHAIN_ID.test(fields.chain)) faults.set('chain', 'Choose a chain, or type its id.');
  if (!ADDRESS.test(fields.address)) {
    faults.set('address', 'An address is 0x and 40 hexadecimal digits.');
  }
  const compilation = compilationOf(dropped, fields.contract);
  if (compilation !== undefined) {
    if (compilation.kind !== 'metadata' && fields.compilerVersion === '') {
      const what = compilation.kind === 'sources' ? 'Sources do' : 'A standard JSON input does';
      faults.set('compilerVersion', `${what} not name the compiler: choose it.`);
    }
    if (compilation.kind === 'sources') addSettingFaults(fields, compilation, faults);
    else if (!fields.contract.includes(':')) {
      faults.set('contract', 'Name the contract as path:Name, such as contracts/Token.sol:Token.');
    }
  }
  if (fields.transaction !== '' && !TRANSACTION.test(fields.transaction)) {
    faults.set('transaction', 'A transaction hash is 0x and 64 hexadecimal digits.');
  }
  return faults;
}

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function addSettingFaults(
  { optimizer, runs, libraries, remappings }: VerifyFields,
  { sources, language }: Extract<DetectedCompilation, { kind: 'sources' }>,
  faults: Map<FieldName, string>,
): void {
  if (language === 'Vyper') return;
  if (optimizer && !/^\d{1,10}$/.test(runs))
    faults.set('runs', 'Optimizer runs must be a number, such as 200.');
  const isPair = (line: string): boolean => /^[^=]+=0x[0-9a-fA-F]{40}$/.test(line);
  if (!linesOf(libraries).every(isPair)) {
    faults.set('libraries', 'Write each library as name=address, with 40 hexadecimal digits.');
  }
  if (!linesOf(remappings).every((line) => /^[^=]+=/.test(line))) {
    faults.set('remappings', 'Write each remapping as prefix=target.');
  }
  if (lacksImports(sources, remappings)) {
    faults.set('files', 'Add the missing imports, or a remapping to them.');
  }
}

const checkedImports = new WeakMap<
  object,
  { readonly remappings: string; readonly lacks: boolean }
>();

/** Whether imports are missing. The sources are only searched when they or the remappings change. */
function lacksImports(
  sources: Extract<DetectedCompilation, { kind: 'sources' }>['sources'],
  remappings: string,
): boolean {
  const known = checkedImports.get(sources);
  if (known?.remappings === remappings) return known.lacks;
  const lacks = findMissingImports({ sources, remappings: linesOf(remappings) }).length > 0;
  checkedImports.set(sources, { remappings, lacks });
  return lacks;
}

/** Endpoint and body of a verification request. */
export interface VerifyRequest {
  /** Relative to the root of the API host. */
  readonly path: string;
  readonly body: object;
}

/** The request for valid fields. */
export function buildRequest(
  fields: VerifyFields,
  compilation: DetectedCompilation,
): VerifyRequest {
  const { chain, address, compilerVersion, contract, transaction } = fields;
  const creation = transaction === '' ? {} : { creationTransactionHash: transaction };
  if (compilation.kind === 'metadata') {
    const { metadata, sources } = compilation;
    return {
      path: `v2/verify/metadata/${chain}/${address}`,
      body: { metadata, sources, ...creation },
    };
  }
  if (compilation.kind === 'sources') {
    const { language, sources: files } = compilation;
    const { evmVersion } = fields;
    return {
      path: `v1/verify/sources/${chain}/${address}`,
      body: {
        ...{ language, files, compilerVersion },
        ...(contract !== '' && { contract }),
        ...(evmVersion !== '' && { evmVersion }),
        ...(language === 'Solidity' && solidityMembers(fields)),
        ...creation,
      },
    };
  }
  return {
    path: `v2/verify/${chain}/${address}`,
    body: {
      stdJsonInput: changeInput(compilation.input, fields.inputChange),
      compilerVersion,
      contractIdentifier: contract,
      ...creation,
    },
  };
}

/** Fields that only apply to Solidity sources. */
function solidityMembers({ optimizer, runs, viaIR, libraries, remappings }: VerifyFields): object {
  const named = linesOf(libraries).map((line) => line.split('=') as [string, string]);
  return {
    optimizer: { enabled: optimizer, runs: Number(runs) },
    ...(viaIR && { viaIR }),
    ...(named.length > 0 && { libraries: Object.fromEntries(named) }),
    remappings: linesOf(remappings),
  };
}

/** The fields after files were read: values in the files win, and others stay as typed. */
export function fillFields(fields: VerifyFields, dropped: InputFiles | undefined): VerifyFields {
  if (dropped?.kind !== 'usable') return fields;
  const { contracts } = dropped;
  const [only, another] = contracts;
  const isListed = contracts.length === 0 || contracts.includes(fields.contract);
  const kept = isListed ? fields.contract : '';
  const contract = only !== undefined && another === undefined ? only : kept;
  return { ...fields, ...chooseContract(fields, dropped, contract) };
}

/** A contract with the compiler that its file names. */
export function chooseContract(
  fields: VerifyFields,
  dropped: InputFiles | undefined,
  contract: string,
): Pick<VerifyFields, 'contract' | 'compilerVersion'> {
  const { compilerVersion = fields.compilerVersion } = compilationOf(dropped, contract) ?? {};
  return { contract, compilerVersion };
}
