import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';

import { type EventInputs } from '../../../repository/repository.ts';
import { respondJson, NOT_STORED, REVALIDATED } from '../../answer.ts';
import { currentSnapshot, type HttpDependencies } from '../../http-dependencies.ts';
import { type Snapshot } from '../../../publication/snapshot.ts';
import { withClientSignal } from '../../records/request-connection.ts';
import { type BytecodeSearch, SEARCH_BYTES } from './code-database-body.ts';
import { bytecodeDatabaseRoutes } from './code-database-routes.ts';
import { renderSource, renderStored } from './render-verdict.ts';

type DatabaseParts = Pick<
  HttpDependencies,
  'documents' | 'requests' | 'signatures' | 'clientOf' | 'verification'
>;

interface ChainCounts {
  readonly full_match: number;
  readonly partial_match: number;
}

/** Provider name under which everything verified here is counted. */
const PROVIDER = 'fullmatch';

/**
 * Adds Blockscout's bytecode database: finds contracts verified here by their bytecode and verifies them
 * against the given bytecode by strict replay. Bodies are read and validated on a worker thread.
 */
export function addBytecodeDatabase(routes: OpenAPIHono, parts: DatabaseParts): void {
  const { documents, signatures } = parts;
  for (const route of bytecodeDatabaseRoutes) {
    routes.openapi({ ...route.search, request: {} }, async (c) => {
      const code = { ...(await readQuestion(parts, c, 'code_search')) };
      // Searches all chains, whichever chain the request names.
      delete code.chainId;
      return respondJson(route.search, { sources: await findSources(parts, c, code) }, NOT_STORED);
    });
    routes.openapi({ ...route.searchAll, request: {} }, async (c) => {
      const code = await readQuestion(parts, c, 'code_search');
      const ethBytecodeDbSources = await findSources(parts, c, code);
      const none = { sourcifySources: [], allianceSources: [] };
      return respondJson(route.searchAll, { ethBytecodeDbSources, ...none }, NOT_STORED);
    });
    for (const byPlace of [route.searchSourcify, route.searchAlliance]) {
      routes.openapi({ ...byPlace, request: {} }, async (c) => {
        const place = await readQuestion(parts, c, 'place_search');
        return respondJson(byPlace, { sources: await readSources(parts, c, place) }, NOT_STORED);
      });
    }
    const describe = async (c: Context, kind: 'event_selector' | 'event_selectors') => {
      const { selectors } = await parts.requests.read(c, { kind }, SEARCH_BYTES);
      const found = await signatures.findEventInputs(selectors);
      return selectors.map((hash) => ({
        eventDescriptions: (found.get(hash) ?? []).map(describeEvent),
      }));
    };
    routes.openapi({ ...route.describeEvent, request: {} }, async (c) => {
      const [found] = await describe(c, 'event_selector');
      return respondJson(route.describeEvent, found ?? { eventDescriptions: [] }, NOT_STORED);
    });
    routes.openapi({ ...route.describeEvents, request: {} }, async (c) => {
      const responses = await describe(c, 'event_selectors');
      return respondJson(route.describeEvents, { responses }, NOT_STORED);
    });
    routes.openapi(route.stats, () => {
      const totalContracts = countContracts(currentSnapshot(documents, 'statistics'));
      const contractsPerProvider = { [PROVIDER]: totalContracts };
      return respondJson(route.stats, { totalContracts, contractsPerProvider }, REVALIDATED);
    });
  }
}

/** Counts all contracts in stats.json. */
function countContracts({ bodies }: Snapshot): number {
  const counts = JSON.parse(bodies.identity.toString()) as Readonly<Record<string, ChainCounts>>;
  return Object.values(counts).reduce((sum, each) => sum + each.full_match + each.partial_match, 0);
}

async function readQuestion(
  { requests }: DatabaseParts,
  c: Context,
  kind: 'code_search' | 'place_search',
): Promise<BytecodeSearch> {
  return (await requests.read(c, { kind }, SEARCH_BYTES)).searched;
}

/** Finds a compilation that produces the bytecode; empty if there is none. Aborts when the client disconnects. */
async function findSources(
  { verification, clientOf }: DatabaseParts,
  c: Context,
  code: BytecodeSearch,
) {
  const client = clientOf(c);
  const found = await withClientSignal(c, (signal) =>
    verification.knownCodes.search(code, { client, signal }),
  );
  return found === undefined ? [] : [renderSource(found)];
}

async function readSources(
  { verification, clientOf }: DatabaseParts,
  c: Context,
  { chainId, address }: BytecodeSearch,
) {
  if (chainId === undefined) return [];
  const client = clientOf(c);
  const found = await withClientSignal(c, (signal) =>
    verification.knownCodes.readStored(chainId, address, { client, signal }),
  );
  return found === undefined ? [] : [renderStored(found)];
}

function describeEvent({ signature, inputs }: EventInputs) {
  const name = signature.slice(0, signature.indexOf('('));
  return { type: 'event' as const, name, inputs: JSON.stringify(inputs) };
}
