import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';

import { findChain } from '../../../chains/registry/chain-reference.ts';
import { takeApart } from '../../../lib/counts-apart.ts';
import { entityTags } from '../../../lib/entity-tag.ts';
import { checksumAddress, type Hex } from '../../../lib/hex.ts';
import type {
  ContractSummary,
  CountsWithClaims,
  WithdrawnMatch,
} from '../../../repository/repository.ts';
import { answer, type Answer, notModified, REVALIDATED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { Admission } from '../../../lib/admission.ts';
import { createBodyCache } from '../../records/cached-body.ts';
import { cardRoute, contractCardRoute } from './card-routes.ts';
import { drawCard, type Card } from './draw-card.ts';

/** Size of the image cache; an image has about 15 KB. */
const KEPT_BYTES = 4_000_000;
/** Limits on concurrent drawing: each image takes a few milliseconds of the main thread. */
const DRAWINGS = { total: 2, perClient: 1, waiting: 256, waitingPerClient: 16 };

type Parts = Pick<
  HttpDependencies,
  'activity' | 'answers' | 'contractLists' | 'contracts' | 'registry'
>;

/** Adds the images that link previews show for a contract, a chain and the service. */
export function addCards(routes: OpenAPIHono, parts: Parts): void {
  const { answers, contractLists, contracts, activity, registry } = parts;
  const kept = createBodyCache(KEPT_BYTES);
  const drawings = new Admission(DRAWINGS);
  const readOverview = overviewReader(activity);
  const answerCard = (c: Context, describe: () => Promise<Card>): Promise<Answer> =>
    answers.admit(
      c,
      async () => {
        const card = await describe();
        // The content of the card is its cache key.
        const key = JSON.stringify(card);
        const tags = entityTags(Buffer.from(key));
        const held = notModified(c.req.header('if-none-match'), tags);
        if (held !== undefined) return held;
        const image = kept.get(key) ?? { coding: 'identity', bytes: await drawCard(card) };
        kept.set(key, image);
        return answer(image.bytes, {
          type: 'image/png',
          cacheControl: REVALIDATED,
          headers: { etag: tags.identity },
        });
      },
      drawings,
    );
  routes.openapi(contractCardRoute, (c) => {
    const { chainId, file: address } = c.req.valid('param');
    return answerCard(c, async () => {
      const { results } = await contractLists.searchByAddress(address.slice(2), {
        limit: 1,
        chainId,
      });
      const place = { address, chain: nameOf(parts, chainId) };
      if (results[0] !== undefined) return describeContract(results[0], place);
      return describeUnverified(await contracts.readWithdrawnMatch(chainId, address), place);
    });
  });
  routes.openapi(cardRoute, (c) => {
    const { file } = c.req.valid('param');
    return answerCard(c, async () => {
      const overview = await readOverview();
      if (file === 'fullmatch') return describeService(overview);
      const { record } = findChain(registry(), String(file));
      const counts = overview.chains.find(({ chainId }) => chainId === record.chainId);
      return describeChain(record, counts);
    });
  });
}

/** The part of GET /v1/statistics that a card shows. */
interface Overview {
  readonly totals: CountsWithClaims & { readonly chains: number };
  readonly chains: readonly (CountsWithClaims & { readonly chainId: number })[];
}

/** Returns a reader of the statistics that parses each snapshot once. */
function overviewReader(activity: Parts['activity']): () => Promise<Overview> {
  let last: { readonly of: unknown; readonly overview: Overview } | undefined;
  return async () => {
    const snapshot = await activity.readOverview();
    if (last?.of !== snapshot) {
      const overview = JSON.parse(snapshot.bodies.identity.toString()) as Overview;
      last = { of: snapshot, overview };
    }
    return last.overview;
  };
}

/** Returns the name and id of a chain, or only the id if the registry does not have it. */
function nameOf({ registry }: Pick<Parts, 'registry'>, chainId: number): string {
  const found = registry().chains.find(({ record }) => record.chainId === chainId);
  return found === undefined ? `chain ${chainId}` : `${found.record.name} (${chainId})`;
}

const LABELS = { full: 'Full match', partial: 'Partial match' } as const;

interface Place {
  readonly address: Hex;
  readonly chain: string;
}

const describePlace = ({ address, chain }: Place): Card['lines'] => [
  { text: `on ${chain}` },
  { text: checksumAddress(address), isMono: true },
];

/** The card of a contract without a match, whose last one may have been withdrawn. */
function describeUnverified(withdrawn: WithdrawnMatch | undefined, place: Place): Card {
  const [mark, verdict] =
    withdrawn === undefined
      ? (['none', 'Not verified here'] as const)
      : (['withdrawn', 'Withdrawn: no longer verified'] as const);
  const title = withdrawn?.compilation?.name ?? 'Contract';
  return { mark, title, lines: [{ text: verdict }, ...describePlace(place)] };
}

function describeContract(contract: ContractSummary, place: Place): Card {
  const { match, origin, name, language, compilerVersion } = contract;
  const isClaim = origin === 'imported';
  const verdict = isClaim ? `${LABELS[match]}, claimed elsewhere` : LABELS[match];
  const compiler = `${language} ${compilerVersion.replace(/\+.*$/, '')}`;
  return {
    mark: isClaim ? 'claimed' : match,
    title: name,
    lines: [{ text: verdict }, ...describePlace(place), { text: compiler }],
  };
}

const count = (value: number, one: string, more: string): string =>
  `${value.toLocaleString('en')} ${value === 1 ? one : more}`;

const NO_COUNTS: CountsWithClaims = { full: 0, partial: 0, claimed: { full: 0, partial: 0 } };

/** Contracts verified here, and claims. */
function splitCounts(counts: CountsWithClaims = NO_COUNTS) {
  const { full, partial, claimed } = takeApart(counts);
  return { verified: full + partial, claimed };
}

function describeCounts(counts: CountsWithClaims | undefined): Card['lines'] {
  const { verified, claimed } = splitCounts(counts);
  return [
    { text: count(verified, 'verified contract', 'verified contracts') },
    ...(claimed > 0 ? [{ text: `${count(claimed, 'claim', 'claims')} of other services` }] : []),
  ];
}

function describeChain(
  { name, chainId, supported }: { name: string; chainId: number; supported: boolean },
  counts: Overview['chains'][number] | undefined,
): Card {
  const { verified, claimed } = splitCounts(counts);
  return {
    mark: verified > 0 ? 'full' : claimed > 0 ? 'claimed' : 'none',
    title: name,
    lines: [
      ...describeCounts(counts),
      { text: `chain ${chainId}` },
      { text: supported ? 'Contracts can be verified' : 'Not supported here' },
    ],
  };
}

function describeService({ totals }: Overview): Card {
  return {
    mark: 'full',
    title: 'Is this its source?',
    lines: [
      ...describeCounts(totals),
      { text: `on ${count(totals.chains, 'chain', 'chains')}` },
      { text: 'compiled and compared, byte for byte' },
    ],
  };
}
