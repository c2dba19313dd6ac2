import { type OpenAPIHono, type z } from '@hono/zod-openapi';

import { FullmatchError } from '../../../errors.ts';
import { isAddress } from '../../../lib/address-text.ts';
import { describeAddressFault } from '../../../lib/hex.ts';
import type {
  ContractLists,
  FeedCursor,
  HistoryQuery,
  ListQuery,
  SummaryPage,
} from '../../../repository/repository.ts';
import {
  answer,
  respondJson,
  BASE_HEADERS,
  JSON_TYPE,
  NOT_STORED,
  notModified,
  REVALIDATED,
} from '../../answer.ts';
import { respondWithSnapshot } from '../../snapshot-response.ts';
import { contractNotFound } from '../../contract-not-found.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { renderEvent } from '../../../publication/event-hub.ts';
import { isMatchId } from '../../match-id.ts';
import { Admission } from '../../../lib/admission.ts';
import {
  DEFAULT_PAGE,
  newestRoute,
  sameCodeRoute,
  searchContractsRoute,
} from './contract-list-routes.ts';
import { renderContractPage } from './render-page.ts';
import {
  FEED_CURSOR,
  feedRoute,
  eventsRoute,
  historyRoute,
  overviewRoute,
  POINTS_MAX,
} from './statistics-routes.ts';

/** Lists made at once: each takes a millisecond of the event loop after its query; a history takes ten. */
const LISTS_AT_ONCE = 4;
const WAITING = { waiting: 512, waitingPerClient: 64 };
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 90;
const LEAST_DAYS_OF = { day: 1, week: 7, month: 28 } as const;

const HASH = /^0x[0-9a-f]{64}$/;
const ADDRESS_PREFIX = /^0x[0-9a-f]{4,40}$/;
const ADDRESS_CURSOR = /^[0-9a-f]{40}\.[0-9]{1,16}$/;
const NAME_CURSOR = /^[0-9]{1,18}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[^\0]+$/s;

/** All routes that this file adds. */
export const statisticsRoutes = [
  overviewRoute,
  historyRoute,
  feedRoute,
  eventsRoute,
  newestRoute,
  searchContractsRoute,
  sameCodeRoute,
] as const;

/** Adds the routes of statistics over time, events and contract lists. */
export function addStatisticsRoutes(
  routes: OpenAPIHono,
  {
    activity,
    answers,
    contractLists,
    clientOf,
  }: Pick<HttpDependencies, 'activity' | 'answers' | 'contractLists' | 'clientOf'>,
): void {
  const lists = new Admission({ total: LISTS_AT_ONCE, ...WAITING });
  const histories = new Admission({ total: 1, ...WAITING });
  routes.openapi(overviewRoute, async (c) =>
    respondWithSnapshot(await activity.readOverview(), c.req.raw.headers),
  );
  routes.openapi(historyRoute, async (c) => {
    const question = historyQuestion(c.req.valid('query'), new Date());
    const history = await answers.admit(c, () => activity.readHistory(question), histories);
    return (
      notModified(c.req.header('if-none-match'), history.tags) ??
      answer(history.bytes, {
        type: JSON_TYPE,
        cacheControl: REVALIDATED,
        headers: { etag: history.tags.identity },
      })
    );
  });
  routes.openapi(eventsRoute, (c) => {
    // A response to HEAD has no body.
    const listens = c.req.raw.method === 'GET';
    const client = clientOf(c);
    const stream = listens ? activity.events.connect(client, c.req.header('last-event-id')) : null;
    return new Response(stream, {
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': NOT_STORED,
        // nginx would otherwise buffer events until its buffer is full.
        'x-accel-buffering': 'no',
        ...BASE_HEADERS,
      },
    });
  });
  routes.openapi(feedRoute, async (c) => {
    const after = feedPlaceOf(c.req.valid('query').after);
    const page = await answers.admit(c, () => contractLists.readFeedPage(after), lists);
    if (page === undefined) throw unknownPosition();
    const { events, last, hasMore } = page;
    const results = events.map(renderEvent);
    const next = last.position === 0n ? null : `${last.position}-${last.mark}`;
    return respondJson(feedRoute, { results, next, hasMore }, REVALIDATED);
  });
  routes.openapi(newestRoute, async (c) => {
    const question = listQuestion(c.req.valid('query'));
    const page = await answers.admit(c, () => contractLists.listNewest(question), lists);
    return respondJson(newestRoute, renderContractPage(page), REVALIDATED);
  });
  routes.openapi(searchContractsRoute, async (c) => {
    const { q, ...rest } = c.req.valid('query');
    const page = await answers.admit(c, () => search(contractLists, q, listQuestion(rest)), lists);
    return respondJson(searchContractsRoute, renderContractPage(page), REVALIDATED);
  });
  routes.openapi(sameCodeRoute, async (c) => {
    const { chainId, address } = c.req.valid('param');
    const question = listQuestion(c.req.valid('query'));
    const found = await answers.admit(
      c,
      () => contractLists.findSameCode({ chainId, address }, question),
      lists,
    );
    if (found === undefined) throw contractNotFound(chainId, address);
    return respondJson(sameCodeRoute, renderContractPage(found), REVALIDATED);
  });
}

function feedPlaceOf(after: string | undefined): FeedCursor {
  const [, position = '0', mark = ''] = FEED_CURSOR.exec(after ?? '') ?? [];
  return { position: BigInt(position), mark };
}

const unknownPosition = (): FullmatchError =>
  new FullmatchError(
    'feed_position_unknown',
    'The feed does not have this position: the service was restored from a backup, or this is another service. Read it from the beginning, without `after`.',
  );

/** Builds the list query from the query parameters. */
function listQuestion({
  chain,
  match,
  origin,
  trust,
  after,
  limit = DEFAULT_PAGE,
}: z.output<typeof newestRoute.request.query>): ListQuery {
  return {
    limit,
    ...(chain !== undefined && { chainId: chain }),
    ...(match && { match }),
    ...(origin && { origin }),
    ...(trust && { trust }),
    // A form without a cursor sends an empty value.
    ...(after !== undefined && after !== '' && { after }),
  };
}

/** Searches by address, hash or name, depending on the format of the text. */
function search(contracts: ContractLists, text: string, question: ListQuery): Promise<SummaryPage> {
  const lower = text.toLowerCase();
  const { after = '' } = question;
  const expectCursor = (fits: boolean): void => {
    if (after !== '' && !fits) throw invalid('after', 'the `next` of a page is expected');
  };
  if (HASH.test(lower)) {
    expectCursor(isMatchId(after));
    return contracts.searchByHash(`0x${lower.slice(2)}`, question);
  }
  if (ADDRESS_PREFIX.test(lower)) {
    const fault = isAddress(text) ? describeAddressFault(text) : undefined;
    if (fault !== undefined) throw invalid('q', fault);
    expectCursor(ADDRESS_CURSOR.test(after));
    return contracts.searchByAddress(lower.slice(2), question);
  }
  if (lower.startsWith('0x')) {
    throw invalid(
      'q',
      'after 0x, 4 to 40 hexadecimal digits of an address are expected, or 64 of a hash',
    );
  }
  expectCursor(NAME_CURSOR.test(after));
  return contracts.searchByName(text, question);
}

function historyQuestion(
  { chain, from, to, interval = 'day' }: z.output<typeof historyRoute.request.query>,
  now: Date,
): HistoryQuery {
  const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
  const today = dayOf(now.getTime());
  const last = to === undefined || to > today ? today : to;
  const first = from ?? dayOf(Date.parse(last) - (DEFAULT_DAYS - 1) * DAY_MS);
  if (first > last) throw invalid('from', `a day up to ${last} is expected`);
  const days = (Date.parse(last) - Date.parse(first)) / DAY_MS;
  if (days / LEAST_DAYS_OF[interval] > POINTS_MAX) {
    throw invalid('from', `at most ${POINTS_MAX} points are given; choose a longer interval`);
  }
  return { interval, from: first, to: last, ...(chain && { chainIds: chain }) };
}

function invalid(parameter: string, message: string): FullmatchError {
  return new FullmatchError('invalid_parameter', `Parameter ${parameter}: ${message}.`, {
    details: { parameter },
  });
}
