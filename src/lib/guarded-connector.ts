import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { classifyAddress } from './address-guard.ts';
import { addressNotAllowed } from './fetch-target.ts';

/** Resolves a host name to its IP addresses. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

interface ConnectorOptions {
  /** Hosts (`host:port`) that may have any address. */
  readonly allowed: ReadonlySet<string>;
  readonly connectTimeoutMs: number;
  readonly resolve?: Resolve;
  /** PEM; replaces Node's trusted certificate authorities. */
  readonly certificateAuthorities?: string;
}

/** Delay before the next address of a name is tried (RFC 8305 recommends 250 ms; distant hosts need more). */
const NEXT_ADDRESS_AFTER_MS = 1500;

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

/**
 * Resolves a name to the addresses that may be connected to. The socket connects to one of these, so no
 * second lookup can return something else.
 * @throws FetchFault address_not_allowed if none is allowed.
 */
async function resolvePublic(
  resolve: Resolve,
  hostname: string,
  origin: string,
  allowed: boolean,
): Promise<readonly string[]> {
  const addresses = (await resolve(hostname)).filter((address) => isIP(address) !== 0);
  if (allowed) return addresses;
  const usable = addresses.filter((address) => classifyAddress(address) === 'public');
  const [first] = addresses;
  if (usable.length === 0 && first !== undefined)
    throw addressNotAllowed(origin, classifyAddress(first));
  return usable;
}

function asLookup(find: (hostname: string) => Promise<readonly string[]>): LookupFunction {
  return (hostname, options, callback) => {
    find(hostname).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const [first] = found;
        if (first === undefined) {
          callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '', 0);
        } else if (options.all === true) {
          callback(null, found);
        } else {
          callback(null, first.address, first.family);
        }
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, '', 0),
    );
  };
}

/**
 * Creates the connector of the guarded fetch. IP literals never reach a DNS hook, so they are checked first;
 * names are checked by the addresses that the socket receives; after connecting, the remote address is
 * checked again.
 */
export function createGuardedConnector(options: ConnectorOptions): buildConnector.connector {
  const resolve = options.resolve ?? resolveBySystem;

  // Each connection gets its own connector, whose lookup knows what is allowed for this host and port.
  const connectorFor = (origin: string, allowed: boolean): buildConnector.connector =>
    buildConnector({
      timeout: options.connectTimeoutMs,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
      maxCachedSessions: 0,
      lookup: asLookup((hostname) => resolvePublic(resolve, hostname, origin, allowed)),
      ...(options.certificateAuthorities === undefined
        ? {}
        : { ca: options.certificateAuthorities }),
    });

  return (target, callback) => {
    const port = target.port === '' ? (target.protocol === 'https:' ? '443' : '80') : target.port;
    const host = isIP(target.hostname) === 6 ? `[${target.hostname}]` : target.hostname;
    const origin = `${target.protocol}//${host}:${port}`;
    const allowed = options.allowed.has(`${host}:${port}`);
    const literal = isIP(target.hostname) === 0 ? 'public' : classifyAddress(target.hostname);
    if (!allowed && literal !== 'public') {
      callback(addressNotAllowed(origin, literal), null);
      return;
    }
    connectorFor(origin, allowed)(target, (...result) => {
      const [error, socket] = result;
      if (error !== null) {
        callback(error, null);
        return;
      }
      const kind = classifyAddress(socket.remoteAddress ?? '');
      if (allowed || kind === 'public') {
        callback(null, socket);
      } else {
        socket.destroy();
        callback(addressNotAllowed(origin, kind), null);
      }
    });
  };
}
