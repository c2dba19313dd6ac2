import { z } from 'zod';
import { type Config } from '../config/config.ts';
import { FullmatchError } from '../errors.ts';
import { hostOf } from '../http/listener.ts';
import { readinessSchema, type Readiness } from '../http/health-schema.ts';
import { tryPort } from '../http/try-port.ts';
import { type GuardedFetch } from '../lib/guarded-fetch.ts';
import { LOOPBACK } from './open-hosts.ts';

/** What listens, or would, by the section of its configuration. */
export type HostName = 'api' | 'repository' | 'metrics';

/** A port of the configuration, and who has it. */
export interface InspectedPort {
  readonly name: HostName;
  readonly host: string;
  readonly port: number;
  /** `any`: a free one is picked; `answers`: a Fullmatch has it. */
  readonly state: 'any' | 'free' | 'answers' | 'unavailable';
  /** Why it is unavailable. */
  readonly fault?: FullmatchError;
  /** What the Fullmatch there says of itself; metrics say nothing. */
  readonly readiness?: Readiness;
}

const DEADLINE_MS = 5_000;
const MAX_BYTES = 5_000_000;
const METRIC = /^fullmatch_/m;
/** 503 carries the same members, beside those of a problem. */
const readiness = z.object(readinessSchema.shape);

/** The ports that the configuration opens. */
export function portsOf(config: Config): readonly Omit<InspectedPort, 'state'>[] {
  return (['api', 'repository', 'metrics'] as const)
    .filter((name) => config[name].enabled)
    .map((name) => {
      const host = name === 'metrics' ? LOOPBACK : config.host;
      return { name, host, port: config[name].port };
    });
}

/** Where a host on this port is asked from this machine, without a closing slash. */
export function urlOfPort({ host, port }: Pick<InspectedPort, 'host' | 'port'>): string {
  return `http://${hostOf(host)}:${port}`;
}

/** Looks who has a port: it is opened for an instant, and where that fails, asked whether a Fullmatch is there. */
export async function inspectPort(
  place: Omit<InspectedPort, 'state'>,
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

/** What a Fullmatch says at a URL; undefined where none answers, or something else. */
export async function askFullmatch(
  name: HostName,
  url: string,
  fetch: GuardedFetch,
): Promise<{ readonly readiness?: Readiness } | undefined> {
  const isMetrics = name === 'metrics';
  try {
    const { body } = await fetch.fetch(`${url}${isMetrics ? '/metrics' : '/readyz'}`, {
      deadlineMs: DEADLINE_MS,
      maxBytes: MAX_BYTES,
      maxRedirects: 0,
    });
    const text = body.toString();
    if (isMetrics) return METRIC.test(text) ? {} : undefined;
    return { readiness: readiness.parse(JSON.parse(text)) };
  } catch {
    return undefined;
  }
}
