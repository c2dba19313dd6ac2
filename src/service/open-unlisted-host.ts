import { type Config } from '../config/config.ts';
import { type RunningCore } from '../core/run-core.ts';
import { type AccessGate } from '../http/access-gate.ts';
import { createApiApp } from '../http/api/api-app.ts';
import { type HostApp } from '../http/host-app.ts';
import { type HttpDependencies } from '../http/http-dependencies.ts';
import { RecordResponder } from '../http/records/record-responder.ts';
import { unlistedPrefixes } from '../http/unlisted/unlisted-paths.ts';
import { withUnlisted } from '../http/unlisted/unlisted-host.ts';
import { type Closers } from '../lib/closers.ts';
import { createContractReader } from '../repository/repository.ts';
import { SERVING_TIME_LIMIT_MS } from '../store/database.ts';

/**
 * Size of the cache of rendered responses with unlisted contracts, in bytes; small because few clients
 * request them.
 */
const CACHE_BYTES = 16 * 2 ** 20;

/** Creates the API host, including the unlisted contracts below their prefixes if the service has any. */
export function createCombinedApi(
  parts: HttpDependencies & { readonly access: AccessGate },
  { unlisted, log }: RunningCore,
  config: Config,
  closers: Closers,
): HostApp {
  if (unlisted === undefined) return createApiApp(parts);
  const { version, clientOf, access } = parts;
  const prefixes = unlistedPrefixes(config.api.prefix);
  const answers = new RecordResponder({
    cacheBytes: CACHE_BYTES,
    readers: 1,
    clientOf,
    // A contract may be both listed and unlisted; the entity tags of the two responses must differ.
    version: `${version} unlisted`,
  });
  const own = createApiApp({
    ...parts,
    contracts: createContractReader(unlisted.database.limited(SERVING_TIME_LIMIT_MS)),
    verification: unlisted.verification,
    answers: closers.add(answers),
    access: {
      verify: 'token',
      admit: (...parameters) => access.admit(...parameters),
      requireToken: (...parameters) => access.requireToken(...parameters),
    },
    apiPrefixes: prefixes,
    isMcpEnabled: false,
    isUnlisted: true,
    // The repository host has no unlisted contracts.
    urls: () => {
      const { api } = parts.urls();
      return { ...(api !== undefined && { api }) };
    },
  });
  const listed = createApiApp({ ...parts, unlistedHost: own });
  return withUnlisted({ listed, unlisted: own, prefixes, access }, log);
}
