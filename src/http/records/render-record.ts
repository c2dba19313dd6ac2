import {
  type ContractMatch,
  type ContractSections,
  type StoredSections,
  filesOf,
  listFiles,
  parseSections,
} from '../../repository/repository.ts';
import { checksumAddress, type Hex } from '../../lib/hex.ts';
import {
  renderBlockscoutRecord,
  renderSmartContract,
} from '../api/blockscout/explorer/contract-record.ts';
import { type etherscanAnswerSchema } from '../api/etherscan/etherscan-wire.ts';
import { renderAbi, renderSourceRecord } from '../api/etherscan/source-record.ts';
import { renderContract, renderStandardInput } from '../api/v2/contract-text.ts';
import { type FieldSelection } from '../api/v2/contract-fields.ts';
import { type fileTreeSchema, type filesSchema } from '../api/v1/look-up-routes.ts';
import { type AnswerOf } from '../answer.ts';
import { type folderSchema } from '../repository/repository-routes.ts';
import { encodePath, folderPath } from '../tree-path.ts';
import { renderZip, type ZippedFile } from './render-zip.ts';

type Files = AnswerOf<typeof filesSchema>;

/** What is to be made of a record: plain data, for a thread too. */
export interface RecordTask {
  readonly match: ContractMatch;
  readonly parts: StoredSections;
  readonly form: RecordForm;
}

/**
 * An answer that shows a record: fields of the API v2, files and their URLs of the API v1, a folder of the tree, what tools
 * take (the ABI, the input of the compiler, an archive of all files), of the Etherscan protocol the ABI or the source with
 * what is known of the implementation of a proxy, in either dialect, and a contract of Blockscout's API.
 */
export type RecordForm =
  | {
      readonly kind: 'fields';
      readonly selection: Omit<FieldSelection, 'parts'>;
      /** What was read from the chain for this answer. */
      readonly live?: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'files' | 'bare_files' }
  | { readonly kind: 'file_urls' | 'bare_file_urls'; readonly base: string }
  | { readonly kind: 'folder' | 'abi' | 'standard_input' | 'zip' }
  | { readonly kind: 'blockscout_contract' }
  | { readonly kind: 'etherscan_abi' }
  | { readonly kind: 'etherscan_source' | 'blockscout_source'; readonly implementation?: Hex };

/** The bytes of an answer, of JSON in UTF-8, in memory of their own. */
export function renderRecord({ match, parts, form }: RecordTask): Buffer<ArrayBuffer> {
  if (form.kind === 'zip') return renderZip(zippedFiles(parseSections(parts)));
  return encode(renderChunks(match, parts, form));
}

function renderChunks(
  match: ContractMatch,
  stored: StoredSections,
  form: RecordForm,
): readonly string[] {
  const parts = parseSections(stored);
  if (form.kind === 'fields') return renderContract(match, parts, form.selection, form.live);
  if (form.kind === 'standard_input') return renderStandardInput(parts);
  if (form.kind === 'abi') return [JSON.stringify(parts.artifacts?.['abi'] ?? [])];
  if (form.kind === 'etherscan_abi') return [renderOk(renderAbi(parts))];
  if (form.kind === 'etherscan_source') {
    return [renderOk([renderSourceRecord(parts, form.implementation)])];
  }
  if (form.kind === 'blockscout_source') {
    return [renderOk([renderBlockscoutRecord(match, parts, form.implementation)])];
  }
  if (form.kind === 'blockscout_contract')
    return [JSON.stringify(renderSmartContract(match, parts))];
  const folder = folderPath(match);
  if (form.kind === 'files' || form.kind === 'bare_files') {
    const files = filesOf(parts).map(({ path, content }) => {
      const name = path.slice(path.lastIndexOf('/') + 1);
      const file: Files['files'][number] = { name, path: `${folder}/${path}`, content };
      return JSON.stringify(file);
    });
    const separated = files.flatMap((file, index) => (index === 0 ? [file] : [',', file]));
    if (form.kind === 'bare_files') return ['[', ...separated, ']'];
    return [`{"status":"${match.match}","files":[`, ...separated, ']}'];
  }
  const listed = listFiles(parts);
  if (form.kind === 'file_urls' || form.kind === 'bare_file_urls') {
    const files = listed.map(({ path }) => `${form.base}/${folder}/${encodePath(path)}`);
    if (form.kind === 'bare_file_urls') return [JSON.stringify(files)];
    const tree: AnswerOf<typeof fileTreeSchema> = { status: match.match, files };
    return [JSON.stringify(tree)];
  }
  const { chainId, address } = match;
  const files = listed.map((file) => ({ ...file, url: `/${folder}/${encodePath(file.path)}` }));
  const contract: AnswerOf<typeof folderSchema> = {
    match: match.match,
    chainId,
    address: checksumAddress(address),
    files,
  };
  return [JSON.stringify(contract)];
}

/** The files of the published tree, and what tools take beside them. */
function zippedFiles(parts: Partial<ContractSections>): readonly ZippedFile[] {
  return [
    ...filesOf(parts),
    { path: 'standard-input.json', content: renderStandardInput(parts).join('') },
    { path: 'abi.json', content: JSON.stringify(parts.artifacts?.['abi'] ?? []) },
  ];
}

/** An answer of the Etherscan protocol that is good. */
function renderOk(result: AnswerOf<typeof etherscanAnswerSchema>['result']): string {
  return JSON.stringify({ status: '1', message: 'OK', result });
}

/** One text of all chunks would be held beside its bytes. */
function encode(chunks: readonly string[]): Buffer<ArrayBuffer> {
  const length = chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0);
  const bytes = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  for (const chunk of chunks) filled += bytes.write(chunk, filled);
  return bytes;
}
