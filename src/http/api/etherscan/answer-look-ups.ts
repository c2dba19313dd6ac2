import { FullmatchError } from '../../../errors.ts';
import { bytesToHex, checksumAddress, type Hex } from '../../../lib/hex.ts';
import { type Answer } from '../../answer.ts';
import { respondWithRecord } from '../../records/respond-with-record.ts';
import { type ProxyQuestion, readProxyInTime } from '../read-proxy-in-time.ts';
import { invalidField, readAddress, requireAddress, requireField } from './etherscan-fields.ts';
import {
  notOkResponse,
  okResponse,
  type EtherscanParts,
  type EtherscanRequest,
  requireChain,
} from './etherscan-request.ts';
import { RESULT_TEXTS } from './etherscan-texts.ts';
import { renderUnverifiedRecord } from '../blockscout/explorer/contract-record.ts';
import { SOURCE_RECORD_SECTIONS, UNVERIFIED_RECORD } from './source-record.ts';

/** Handles getabi: returns the ABI of a verified contract. */
export async function answerAbi(
  parts: EtherscanParts,
  question: EtherscanRequest,
): Promise<Answer> {
  const place = placeOf(parts, question);
  const view = { form: { kind: 'etherscan_abi' }, parts: ['artifacts'] } as const;
  const answered = await respondWithRecord(question.c, parts, place, () => view);
  return answered ?? notOkResponse(RESULT_TEXTS.notVerified);
}

/** Handles getsourcecode: returns the source and the settings of a verified contract. */
export async function answerSource(
  parts: EtherscanParts,
  question: EtherscanRequest,
): Promise<Answer> {
  const place = placeOf(parts, question);
  const { chainId, address } = place;
  const isBlockscout = question.dialect === 'blockscout';
  const unverified = isBlockscout ? [renderUnverifiedRecord(address)] : [UNVERIFIED_RECORD];
  const match = await parts.contracts.readContract(chainId, address);
  if (match === undefined) return okResponse(unverified);
  const client = parts.clientOf(question.c);
  const found = await findImplementation(parts, { ...place, client });
  if (found === 'unread') return notOkResponse(RESULT_TEXTS.proxyUnread);
  const { implementation } = found;
  const view = {
    form: {
      kind: isBlockscout ? 'blockscout_source' : 'etherscan_source',
      ...(implementation && { implementation }),
    },
    key: implementation ?? '',
    parts: SOURCE_RECORD_SECTIONS,
  } as const;
  const answered = await respondWithRecord(question.c, parts, place, () => view);
  return answered ?? okResponse(unverified);
}

/** Most addresses of one request, as in the protocol. */
const CREATIONS_MAX = 5;

/**
 * Handles getcontractcreation: returns how contracts were created. The chain is read for contracts that are
 * not verified here.
 */
export async function answerCreations(
  parts: EtherscanParts,
  question: EtherscanRequest,
): Promise<Answer> {
  const chainId = requireChain(parts, question);
  const addresses = requireField(question.fields, 'contractaddresses')
    .split(',', CREATIONS_MAX + 1)
    .map((text) => readAddress(text.trim()));
  if (addresses.length > CREATIONS_MAX) {
    throw invalidField('contractaddresses', `names more than ${CREATIONS_MAX} addresses`);
  }
  // Creation bytecode is large.
  const found = await parts.answers.admit(question.c, () =>
    parts.contracts.findCreations(chainId, addresses),
  );
  const stored = new Map(found.map((each) => [each.address, each]));
  const client = parts.clientOf(question.c);
  const searched = await Promise.all(
    addresses.map(
      async (address) =>
        stored.get(address) ?? (await searchCreation(parts, chainId, address, client)),
    ),
  );
  const known = searched.filter((each) => each !== undefined);
  if (known.length === 0) return notOkResponse(RESULT_TEXTS.noCreation);
  return okResponse(
    known.map(({ address, deployer, transactionHash, blockNumber, creationCode = '0x' }) => ({
      contractAddress: checksumAddress(address),
      contractCreator: checksumAddress(deployer),
      txHash: transactionHash,
      blockNumber: String(blockNumber),
      creationBytecode: creationCode,
    })),
  );
}

/** Reads the creation from the chain; undefined if this service does not read the chain. */
async function searchCreation(
  { creations }: EtherscanParts,
  chainId: number,
  address: Hex,
  client: string,
) {
  try {
    const found = await creations.find(chainId, address, client);
    return found && { ...found, address, creationCode: bytesToHex(found.creationCode) };
  } catch (error) {
    const isUnread = error instanceof FullmatchError && error.code === 'unsupported_chain';
    if (isUnread) return undefined;
    throw error;
  }
}

function placeOf(
  parts: EtherscanParts,
  question: EtherscanRequest,
): { readonly chainId: number; readonly address: Hex } {
  const chainId = requireChain(parts, question);
  return { chainId, address: requireAddress(question.fields, 'address') };
}

/** Returns the implementation of a proxy. If this service does not read the chain, no contract counts as a proxy. */
async function findImplementation(
  { proxies }: EtherscanParts,
  asked: ProxyQuestion,
): Promise<{ readonly implementation?: Hex } | 'unread'> {
  const reading = await readProxyInTime(proxies, asked);
  if (reading instanceof FullmatchError)
    return reading.code === 'unsupported_chain' ? {} : 'unread';
  const [implementation] = reading.proxy?.implementations ?? [];
  return implementation === undefined ? {} : { implementation };
}
