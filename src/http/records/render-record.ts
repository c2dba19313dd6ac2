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
import { type ResponseOf } from '../answer.ts';
import { type folderSchema } from '../repository/repository-routes.ts';
import { encodePath, folderPath } from '../tree-path.ts';
import { renderZip, type ZippedFile } from './render-zip.ts';

type Files = ResponseOf<typeof filesSchema>;

/** A rendering task: plain data, so that it can be sent to a thread. */
export interface RecordTask {
  readonly match: ContractMatch;
  readonly parts: StoredSections;
  readonly form: RecordForm;
}

/**
 * Format in which a record is rendered: fields of the API v2; files and their URLs of the API v1; a folder of
 * the tree; tool downloads (the ABI, the compiler input, an archive of all files); the ABI or the source in
 * the Etherscan protocol, in either dialect and with the implementation of a proxy if known; and a contract
 * of Blockscout's API.
 */
export type RecordForm =
  | {
      readonly kind: 'fields';
      readonly selection: Omit<FieldSelection, 'parts'>;
      /** Values read from the chain for this response. */
      readonly live?: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'files' | 'bare_files' }
  | { readonly kind: 'file_urls' | 'bare_file_urls'; readonly base: string }
  | { readonly kind: 'folder' | 'abi' | 'standard_input' | 'zip' }
  | { readonly kind: 'blockscout_contract' }
  | { readonly kind: 'etherscan_abi' }
  | { readonly kind: 'etherscan_source' | 'blockscout_source'; readonly implementation?: Hex };

/** Renders a response to bytes (JSON in UTF-8) in their own memory. */
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
    const tree: ResponseOf<typeof fileTreeSchema> = { status: match.match, files };
    return [JSON.stringify(tree)];
  }
  const { chainId, address } = match;
  const files = listed.map((file) => ({ ...file, url: `/${folder}/${encodePath(file.path)}` }));
  const contract: ResponseOf<typeof folderSchema> = {
    match: match.match,
    chainId,
    address: checksumAddress(address),
    files,
  };
  return [JSON.stringify(contract)];
}

/** Lists the files of the published tree and the tool downloads. */
function zippedFiles(parts: Partial<ContractSections>): readonly ZippedFile[] {
  return [
    ...filesOf(parts),
    { path: 'standard-input.json', content: renderStandardInput(parts).join('') },
    { path: 'abi.json', content: JSON.stringify(parts.artifacts?.['abi'] ?? []) },
  ];
}

/** Renders a successful response of the Etherscan protocol. */
function renderOk(result: ResponseOf<typeof etherscanAnswerSchema>['result']): string {
  return JSON.stringify({ status: '1', message: 'OK', result });
}

/** Encodes texts in memory of their own, chunk by chunk: a joined string would be held in addition to its bytes. */
export function encode(chunks: readonly string[]): Buffer<ArrayBuffer> {
  const length = chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0);
  const bytes = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  for (const chunk of chunks) filled += bytes.write(chunk, filled);
  return bytes;
}
