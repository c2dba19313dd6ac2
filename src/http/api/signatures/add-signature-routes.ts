import { type OpenAPIHono } from '@hono/zod-openapi';

import { FullmatchError } from '../../../errors.ts';
import { type Hex } from '../../../lib/hex.ts';
import type { ImportedSignatures, SignatureName } from '../../../repository/repository.ts';
import { respondJson, NOT_STORED, REVALIDATED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { importRoute, lookupRoute, searchRoute, statsRoute } from './signature-routes.ts';
import { IMPORT_BYTES, type ParsedSignatureImport } from './signatures-body.ts';

type SignatureParts = Pick<HttpDependencies, 'requests' | 'signatures' | 'clientOf'>;

/** Most hashes of one lookup. */
const MAX_HASHES = 1000;
const SELECTOR_CHARACTERS = 10;

/** Adds the routes of the signature database. */
export function addSignatureRoutes(routes: OpenAPIHono, parts: SignatureParts): void {
  const { signatures, requests, clientOf } = parts;
  routes.openapi(lookupRoute, async (c) => {
    const query = c.req.valid('query');
    const functions = hashesOf('function', query.function, 8);
    const events = hashesOf('event', query.event, 64);
    if (functions.length + events.length > MAX_HASHES) {
      throw new FullmatchError(
        'invalid_parameter',
        `At most ${MAX_HASHES} hashes are looked up at once; ask for the others in another request.`,
      );
    }
    const ofFunctions = await signatures.findByHashes('function', functions);
    const ofEvents = await signatures.findByHashes('event', events);
    const shown = ([hash, names]: readonly [Hex, readonly SignatureName[]]) =>
      [hash, renderNames(names, query.filter)] as const;
    const result = {
      function: Object.fromEntries(
        [...ofFunctions].map(shown).map(([hash, names]) => [hash, names.length > 0 ? names : null]),
      ),
      event: Object.fromEntries([...ofEvents].map(shown)),
    };
    return respondJson(lookupRoute, { ok: true, result }, REVALIDATED);
  });
  routes.openapi(searchRoute, async (c) => {
    const { query, filter } = c.req.valid('query');
    const found = await signatures.searchByPattern(query, clientOf(c));
    const render = (names: ReadonlyMap<Hex, readonly SignatureName[]>) =>
      Object.fromEntries(
        [...names]
          .map(([hash, each]) => [hash, renderNames(each, filter)] as const)
          .filter(([, shown]) => shown.length > 0),
      );
    const result = { function: render(found.function), event: render(found.event) };
    return respondJson(searchRoute, { ok: true, result }, REVALIDATED);
  });
  // A worker thread reads, validates and hashes the body.
  routes.openapi({ ...importRoute, request: {} }, async (c) => {
    const { signatures: question } = await requests.read(c, { kind: 'signatures' }, IMPORT_BYTES);
    const imported = await signatures.import(question.accepted, clientOf(c));
    const result = {
      function: renderImport(question, imported, 'function'),
      event: renderImport(question, imported, 'event'),
    };
    return respondJson(importRoute, { ok: true, result }, NOT_STORED);
  });
  routes.openapi(statsRoute, async () => {
    const { verified, unverified } = await signatures.readTotals();
    const { function: functions, event, error } = verified;
    const total = functions + event + error + unverified;
    const count = { function: functions, event, error, unknown: unverified, total };
    const metadata = { refreshed_at: new Date().toISOString() };
    return respondJson(statsRoute, { ok: true, result: { count, metadata } }, NOT_STORED);
  });
}

/**
 * Returns the distinct hashes of a parameter.
 * @throws FullmatchError invalid_parameter
 */
function hashesOf(parameter: string, text: string | undefined, digits: number): readonly Hex[] {
  const given = (text ?? '').split(',').filter((each) => each !== '');
  const isHash = new RegExp(`^0x[0-9a-fA-F]{${digits}}$`);
  if (!given.every((each) => isHash.test(each))) {
    throw new FullmatchError(
      'invalid_parameter',
      `${parameter}: 0x and ${digits} hexadecimal digits are expected, with commas between several.`,
      { details: { parameter } },
    );
  }
  return [...new Set(given.map((each) => each.toLowerCase() as Hex))];
}

function renderNames(names: readonly SignatureName[], filter: 'true' | 'false') {
  return names
    .filter(({ isFiltered }) => filter === 'false' || !isFiltered)
    .map(({ signature, isFiltered, isVerified }) => ({
      ...{ name: signature, filtered: isFiltered, hasVerifiedContract: isVerified },
    }));
}

function renderImport(
  { accepted, invalid }: ParsedSignatureImport,
  imported: ImportedSignatures,
  kind: 'function' | 'event',
) {
  const shown = (isNew: boolean) =>
    Object.fromEntries(
      accepted[kind]
        .filter(({ hash }) => imported[kind].has(hash) === isNew)
        .map(({ signature, hash }) => [
          signature,
          kind === 'function' ? hash.slice(0, SELECTOR_CHARACTERS) : hash,
        ]),
    );
  return { imported: shown(true), duplicated: shown(false), invalid: invalid[kind] };
}
