/** A request of the documentation and the response of a service. */
export interface ApiExample {
  /** The request as curl would send it. */
  readonly request: string;
  readonly status: number;
  readonly type: string;
  /** The response, shortened, with times, hosts and random ids replaced by constants. */
  readonly answer: string;
}

const ITEMS = 2;
const MEMBERS = 24;
const TEXT_CHARACTERS = 120;
const LINES = 40;
const DATE = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|\+00:00)/g;
const DAY = /\d{4}-\d{2}-\d{2}(?!T)/g;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Except for the operator page, whose address is always the same. */
const LOOPBACK = /127\.0\.0\.1:(?!5557)\d+/g;
/** The position of an event in a stream, and the block that a node mined at this moment. */
const EVENT_ID = /(?<=^id: \d+)-[0-9a-z]+-[0-9a-z]+$/gm;
/** The cursor in a page of the feed. */
const FEED_MARK = /(?<="next": "\d+)-[0-9a-z]+(?=")/g;
const BLOCK_HASH = /(?<="blockHash": ")0x[0-9a-f]{64}/g;
/** Compilation times: a recorded compilation takes no time. */
const COMPILE_TIME = /(?<="(?:compilationTime|compileTimeMs)": "?)\d+/g;
const FIXED_UUID = '72d12273-0723-448e-a9f6-f7957128efa5';

/**
 * Replaces everything that differs between runs.
 * @param hosts the hosts of the service by their names in the documentation
 */
export function steady(text: string, hosts: Readonly<Record<string, string>>): string {
  let result = text;
  for (const [shown, real] of Object.entries(hosts)) result = result.replaceAll(real, shown);
  return result
    .replaceAll(DATE, '2026-01-15T12:00:00.000Z')
    .replaceAll(DAY, '2026-01-15')
    .replaceAll(UUID, FIXED_UUID)
    .replaceAll(COMPILE_TIME, '219')
    .replaceAll(EVENT_ID, '-c8ac9580-1mwvmavq9')
    .replaceAll(FEED_MARK, '-1mwvmavq9')
    .replaceAll(BLOCK_HASH, `0x6c636534${'0'.repeat(48)}88d88210`)
    .replaceAll(LOOPBACK, '127.0.0.1:8545');
}

/**
 * Returns the response as the documentation shows it.
 * @param isVolatile whether its numbers differ between runs: they become 0
 */
export function showAnswer(type: string, body: Buffer, isVolatile: boolean): string {
  if (body.length === 0) return '';
  if (type === 'application/json' || type === 'application/problem+json') {
    const value = shorten(JSON.parse(body.toString('utf8')), isVolatile);
    return cutLines(JSON.stringify(value, null, 2));
  }
  if (!/^text\/|svg/.test(type)) return '(bytes)';
  return cutLines(cutText(body.toString('utf8')));
}

const cutText = (text: string): string =>
  text.length <= TEXT_CHARACTERS ? text : `${text.slice(0, TEXT_CHARACTERS)}…`;

function cutLines(text: string): string {
  const lines = text.split('\n');
  return lines.length <= LINES ? text : `${lines.slice(0, LINES).join('\n')}\n…`;
}

function shorten(value: unknown, isVolatile: boolean): unknown {
  if (typeof value === 'string') return cutText(value);
  if (typeof value === 'number') return isVolatile ? 0 : value;
  if (Array.isArray(value)) {
    const shown = value.slice(0, ITEMS).map((each) => shorten(each, isVolatile));
    return value.length > ITEMS ? [...shown, '…'] : shown;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const shown = entries
    .slice(0, MEMBERS)
    .map(([name, each]): [string, unknown] => [name, shorten(each, isVolatile)]);
  return Object.fromEntries(entries.length > MEMBERS ? [...shown, ['…', '…']] : shown);
}
