import { type OpenAPIHono } from '@hono/zod-openapi';

import { type ChainIcon } from '../../../chains/registry/chain-icons.ts';
import { findChain } from '../../../chains/registry/chain-reference.ts';
import { CHAIN_RECORD_FIELDS } from '../../../chains/registry/chain-record-schema.ts';
import { type ChainRegistry, type RegisteredChain } from '../../../chains/registry/registry.ts';
import {
  type ChainPage,
  pickFields,
  rankChains,
  searchChains,
} from '../../../chains/registry/search-chains.ts';
import { FullmatchError } from '../../../errors.ts';
import { printableText } from '../../../lib/printable-text.ts';
import {
  answer,
  type Answer,
  notModified,
  respondJson,
  type ResponseOf,
  REVALIDATED,
} from '../../answer.ts';
import { entityTags } from '../../../lib/entity-tag.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import {
  type chainDetailsSchema,
  chainIconRoute,
  DEFAULT_PAGE,
  detailsRoute,
  searchRoute,
} from './chain-routes.ts';
import { addRegistryRoute } from './registry-route.ts';

/** An SVG may contain scripts. With this policy a browser shows the image with its own styles and runs nothing. */
const PICTURE_ONLY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** Adds the routes below /v1/chains, and /v1/registry. */
export function addChainRoutes(
  routes: OpenAPIHono,
  { registry, icons, chainHealth }: Pick<HttpDependencies, 'registry' | 'icons' | 'chainHealth'>,
): void {
  addRegistryRoute(routes, { registry, chainHealth, icons });
  routes.openapi(searchRoute, async (c) => {
    const { q, order, fields, limit = DEFAULT_PAGE, after, ...given } = c.req.valid('query');
    const chosen = fields === undefined ? undefined : parseFields(fields);
    const { chains } = registry();
    const filter = { ...known(given), ...(q !== undefined && { words: q }) };
    const page: ChainPage =
      order === 'relevance'
        ? rankChains(chains, filter, limit)
        : searchChains(chains, filter, { limit, ...(after !== undefined && { after }) });
    const results = page.chains.map(({ record }) =>
      chosen === undefined ? record : pickFields(record, chosen),
    );
    const { matching, next } = page;
    const found = { total: chains.length, matching, ...(next !== undefined && { next }), results };
    return respondJson(searchRoute, found, REVALIDATED);
  });
  routes.openapi(detailsRoute, (c) => {
    const current = registry();
    const chain = findChain(current, c.req.valid('param').ref);
    const details = describeChain(chain, current, icons().has(chain.record));
    return respondJson(detailsRoute, details, REVALIDATED);
  });
  routes.openapi(chainIconRoute, async (c) => {
    const { record } = findChain(registry(), c.req.valid('param').ref);
    const icon = await icons().read(record);
    if (icon === undefined) {
      throw new FullmatchError(
        'icon_not_found',
        `This service has no picture of chain ${record.chainId}.`,
        { details: { chainId: record.chainId } },
      );
    }
    return answerIcon(icon, c.req.header('if-none-match'));
  });
}

/** Returns only the members that are set, so that an absent parameter is an absent key. */
function known<Filter extends object>(
  filter: Filter,
): { [Key in keyof Filter]?: Exclude<Filter[Key], undefined> } {
  return Object.fromEntries(
    Object.entries(filter).filter(([, value]) => value !== undefined),
  ) as never;
}

function parseFields(list: string): ReadonlySet<string> {
  const chosen = list.split(',').map((text) => {
    const field = CHAIN_RECORD_FIELDS.find((name) => name === text);
    if (field !== undefined) return field;
    throw new FullmatchError(
      'invalid_parameter',
      `Parameter fields: '${printableText(text, 100)}' is not a field. The fields are ${CHAIN_RECORD_FIELDS.join(', ')}.`,
      { details: { parameter: 'fields' } },
    );
  });
  return new Set([...chosen, 'chainId']);
}

function describeChain(
  { record, origins, endpoints, testnet, local }: RegisteredChain,
  { findings, listSource, listSha256 }: ChainRegistry,
  hasIcon: boolean,
): ResponseOf<typeof chainDetailsSchema> {
  return {
    record,
    testnet,
    local,
    hasIcon,
    origins,
    findings: findings
      .filter(({ chainId }) => chainId === record.chainId)
      .map(({ level, code, field, message }) => ({
        level,
        code,
        ...(field !== undefined && { field }),
        message,
      })),
    endpoints: endpoints.map((endpoint) => ({ label: endpoint.label, public: endpoint.public })),
    list: { source: listSource, sha256: listSha256 },
  };
}

function answerIcon({ bytes, type }: ChainIcon, ifNoneMatch: string | undefined): Answer {
  const tags = entityTags(bytes);
  return (
    notModified(ifNoneMatch, tags) ??
    answer(bytes, {
      type,
      cacheControl: REVALIDATED,
      headers: { etag: tags.identity, 'content-security-policy': PICTURE_ONLY },
    })
  );
}
