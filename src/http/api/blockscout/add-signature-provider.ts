import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';

import { FullmatchError } from '../../../errors.ts';
import { respondJson, NOT_STORED, REVALIDATED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { PROVIDER_BYTES } from './signature-provider-body.ts';
import { providerRoutes } from './signature-provider-routes.ts';

type ProviderParts = Pick<HttpDependencies, 'requests' | 'signatures' | 'clientOf'>;

const SELECTOR_BYTES = 4;

/** Adds Blockscout's signature provider, which decodes calls and events with the signature database. */
export function addSignatureProvider(routes: OpenAPIHono, parts: ProviderParts): void {
  const { requests, signatures, clientOf } = parts;
  for (const route of providerRoutes) {
    // A worker thread reads and validates the body.
    routes.openapi({ ...route.signatures, request: {} }, async (c) => {
      const { accepted } = await requests.read(c, { kind: 'provider_abi' }, PROVIDER_BYTES);
      await signatures.import(accepted, clientOf(c));
      return respondJson(route.signatures, {}, NOT_STORED);
    });
    routes.openapi(route.call, async (c) => {
      const { txInput } = c.req.valid('query');
      if (txInput.length < SELECTOR_BYTES) {
        throw new FullmatchError(
          'invalid_parameter',
          'txInput: the selector of a function is expected, and its arguments behind it.',
          { details: { parameter: 'txInput' } },
        );
      }
      return respondJson(route.call, await signatures.describeCall(txInput), REVALIDATED);
    });
    routes.openapi(route.event, async (c) => {
      const [found = []] = await signatures.describeEvents([c.req.valid('query')]);
      return respondJson(route.event, found, REVALIDATED);
    });
    const answerEvents = async (c: Context) => {
      const { logs } = await requests.read(c, { kind: 'provider_events' }, PROVIDER_BYTES);
      // Byte arrays lose their Buffer type on the way from the worker thread.
      const entries = logs.map(({ topics, data }) => ({
        topics: topics.map((topic) => Buffer.from(topic)),
        data: Buffer.from(data),
      }));
      const found = await signatures.describeEvents(entries);
      return respondJson(
        route.events,
        found.map((abi) => ({ abi })),
        NOT_STORED,
      );
    };
    routes.openapi({ ...route.events, request: {} }, answerEvents);
  }
}
