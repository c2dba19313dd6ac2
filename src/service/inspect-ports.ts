import { z } from 'zod';
import { FullmatchError } from '../errors.ts';
import { hostOf } from '../http/listener.ts';
import { readinessSchema, type Readiness } from '../http/health-schema.ts';
import { tryPort } from '../http/try-port.ts';
import { type GuardedFetch } from '../lib/guarded-fetch.ts';
import { type ConfiguredPort, type HostName } from './ports.ts';

/** A port of the configuration, and who has it. */
export interface InspectedPort extends ConfiguredPort {
  /** `any`: a free one is picked; `answers`: a Fullmatch has it. */
  readonly state: 'any' | 'free' | 'answers' | 'unavailable';
  /** Why it is unavailable. */
  readonly fault?: FullmatchError;
  /** The readiness that the Fullmatch there reports; its metrics and its operator's page report none. */
  readonly readiness?: Readiness;
}

const DEADLINE_MS = 5_000;
const MAX_BYTES = 5_000_000;
const metricsText = z
  .string()
  .regex(/^fullmatch_/m)
  .transform(() => ({}));
/** The roles are on every operator's page. */
const operatorState = z.object({ roles: z.object({ workers: z.number() }) }).transform(() => ({}));
/** 503 carries the same members, beside those of a problem. */
const readiness = z.object(readinessSchema.shape);

/** Where a host on this port is asked from this machine, without a closing slash. */
export function urlOfPort({ host, port }: ConfiguredPort): string {
  return `http://${hostOf(host)}:${port}`;
}

/** Looks who has a port: it is opened for an instant, and where that fails, asked whether a Fullmatch is there. */
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
    const answer = await askFullmatch(place.name, urlOfPort(place), fetch);
    return answer === undefined
      ? { ...place, state: 'unavailable', fault: error }
      : { ...place, state: 'answers', ...answer };
  }
}

/** How to tell a Fullmatch from another program: a path, and a reader that throws for any other text. */
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

/** What a Fullmatch reports at a URL; undefined if none answers, or something else. */
export async function askFullmatch(
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
