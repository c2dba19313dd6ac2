import {
  type ContractLog,
  LOG_BLOCKS,
  LOGS_MAX,
  type LogQuery,
} from '../../../chains/logs/read-logs.ts';
import { toQuantity } from '../../../chains/rpc/rpc-shapes.ts';
import { FullmatchError } from '../../../errors.ts';
import { checksumAddress, type Hex } from '../../../lib/hex.ts';
import { type Answer } from '../../answer.ts';
import {
  type EtherscanFields,
  invalidField,
  requireAddress,
  TOPIC_NAMES,
  TOPIC_OPERATORS,
} from './etherscan-fields.ts';
import {
  emptyResponse,
  okResponse,
  type EtherscanParts,
  type EtherscanRequest,
  requireChain,
} from './etherscan-request.ts';

const BLOCK = /^(?:\d{1,15}|0x[0-9a-f]{1,12})$/i;
const TOPIC = /^0x[0-9a-f]{64}$/i;
const PAGE = /^[1-9]\d{0,3}$/;

/** Handles getLogs: returns the events of one contract, filtered by topics and blocks. */
export async function answerLogs(
  parts: EtherscanParts,
  question: EtherscanRequest,
): Promise<Answer> {
  const { fields, c } = question;
  const chainId = requireChain(parts, question);
  const query = readQuery(fields);
  const offset = readPageNumber(fields, 'offset', LOGS_MAX);
  const start = (readPageNumber(fields, 'page', 1) - 1) * offset;
  const client = parts.clientOf(c);
  const { logs, isComplete } = await parts.logs.find(chainId, query, client);
  const page = logs.slice(start, start + Math.min(offset, LOGS_MAX));
  // What was read are the first events, whatever follows; that there are none is not proven for the other blocks.
  if (page.length === 0 && !isComplete && logs.length < LOGS_MAX) throw tooManyBlocks(chainId);
  return page.length === 0 ? emptyResponse('No records found') : okResponse(page.map(renderLog));
}

function tooManyBlocks(chainId: number): FullmatchError {
  return new FullmatchError(
    'invalid_parameter',
    `The endpoints of chain ${chainId} do not serve events of that many blocks: request at most ${LOG_BLOCKS} with fromBlock and toBlock.`,
    { details: { parameter: 'fromBlock' } },
  );
}

/** @throws FullmatchError invalid_parameter */
function readQuery(fields: EtherscanFields): LogQuery {
  const address = requireAddress(fields, 'address');
  const topics = TOPIC_NAMES.map((name): Hex | undefined => {
    const text = fields[name] ?? '';
    if (text === '') return undefined;
    if (!TOPIC.test(text)) throw invalidField(name, 'is no topic: 0x and 64 digits are expected');
    return text.toLowerCase() as Hex;
  });
  for (const name of TOPIC_OPERATORS) {
    if ((fields[name] || 'and').toLowerCase() !== 'and') {
      throw invalidField(
        name,
        'can only be `and`: send one request for each topic instead of `or`',
      );
    }
  }
  const last = topics.findLastIndex((topic) => topic !== undefined);
  const fromBlock = readBlock(fields, 'fromBlock') ?? 0;
  const toBlock = readBlock(fields, 'toBlock');
  return {
    ...{ address, topics: topics.slice(0, last + 1), fromBlock },
    ...(toBlock !== undefined && { toBlock }),
  };
}

/** @returns undefined for the newest block */
function readBlock(fields: EtherscanFields, name: 'fromBlock' | 'toBlock'): number | undefined {
  const text = fields[name] ?? '';
  if (text === '' || (name === 'toBlock' && text === 'latest')) return undefined;
  if (!BLOCK.test(text)) throw invalidField(name, 'is no block number');
  return Number(text);
}

function readPageNumber(fields: EtherscanFields, name: 'page' | 'offset', usual: number): number {
  const text = fields[name] ?? '';
  if (text === '') return usual;
  if (!PAGE.test(text)) throw invalidField(name, 'is no number from 1 to 9999');
  return Number(text);
}

const renderLog = (log: ContractLog) => ({
  address: checksumAddress(log.address),
  topics: log.topics,
  data: log.data,
  blockNumber: toQuantity(log.blockNumber),
  blockHash: log.blockHash,
  ...(typeof log.blockTimestamp === 'number' && { timeStamp: toQuantity(log.blockTimestamp) }),
  logIndex: toQuantity(log.logIndex),
  transactionHash: log.transactionHash,
  transactionIndex: toQuantity(log.transactionIndex),
});
