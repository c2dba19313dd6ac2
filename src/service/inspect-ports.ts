import { z } from 'zod';
import { FullmatchError } from '../errors.ts';
import { hostOf } from '../http/listener.ts';
import { readinessSchema, type Readiness } from '../http/health-schema.ts';
import { tryPort } from '../http/try-port.ts';
import { type GuardedFetch } from '../lib/guarded-fetch.ts';
import { type ConfiguredPort, type HostName } from './ports.ts';

/** A configured port and its state. */
export interface InspectedPort extends ConfiguredPort {
  /** `any`: a free port is picked; `answers`: a Fullmatch service listens there. */
  readonly state: 'any' | 'free' | 'answers' | 'unavailable';
  /** Why it is unavailable. */
  readonly fault?: FullmatchError;
  /** Readiness that the Fullmatch service there reports; metrics and the operator's page report none. */
  readonly readiness?: Readiness;
}

const DEADLINE_MS = 5_000;
const MAX_BYTES = 5_000_000;
const metricsText = z
  .string()
  .regex(/^fullmatch_/m)
  .transform(() => ({}));
/** Every operator's page reports the roles. */
const operatorState = z.object({ roles: z.object({ workers: z.number() }) }).transform(() => ({}));
/** A 503 has the same members in addition to those of a problem. */
const readiness = z.object(readinessSchema.shape);

/** Returns the URL of a host on this port from this machine, without a trailing slash. */
export function urlOfPort({ host, port }: ConfiguredPort): string {
  return `http://${hostOf(host)}:${port}`;
}

/** Inspects a port: opens it briefly and, if that fails, checks whether a Fullmatch service listens there. */
export async function inspectPort(
  place: ConfiguredPort,
  fetch: GuardedFetch,
): Promise<InspectedPort> {
  if (place.port === 0) return { ...place, state: 'any' };
  try {
    await tryPort(place);
    return { ...place, state: 'free' };
  } catch (error) {
    if (!(error instanceof FullmatchError)) throw error;
    const answer = await probeFullmatch(place.name, urlOfPort(place), fetch);
    return answer === undefined
      ? { ...place, state: 'unavailable', fault: error }
      : { ...place, state: 'answers', ...answer };
  }
}

/** Probe that distinguishes Fullmatch from other programs: a path, and a parser that throws for any other text. */
interface Sign {
  readonly path: string;
  readonly read: (text: string) => { readonly readiness?: Readiness };
}

const HOST_SIGN: Sign = {
  path: '/readyz',
  read: (text) => ({ readiness: readiness.parse(JSON.parse(text)) }),
};
const SIGNS: Readonly<Record<HostName, Sign>> = {
  api: HOST_SIGN,
  repository: HOST_SIGN,
  metrics: { path: '/metrics', read: (text) => metricsText.parse(text) },
  operator: { path: '/state', read: (text) => operatorState.parse(JSON.parse(text)) },
};

/** Requests the report of a Fullmatch service at a URL; undefined if nothing or another program answers. */
export async function probeFullmatch(
  name: HostName,
  url: string,
  fetch: GuardedFetch,
): Promise<{ readonly readiness?: Readiness } | undefined> {
  const { path, read } = SIGNS[name];
  try {
    const { body } = await fetch.fetch(`${url}${path}`, {
      deadlineMs: DEADLINE_MS,
      maxBytes: MAX_BYTES,
      maxRedirects: 0,
    });
    return read(body.toString());
  } catch {
    return undefined;
  }
}
