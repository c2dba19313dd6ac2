/** Parses the servers of a PostgreSQL URL, each as its own URL, and the role that is wanted. */
export interface ServerList {
  readonly urls: readonly [string, ...string[]];
  readonly wanted: WantedServer;
}

/** As libpq's `target_session_attrs`: which of several servers to connect to. */
export type WantedServer = 'any' | 'read-write' | 'read-only' | 'primary' | 'standby';

/** Role that a server reports. */
export interface ServerRole {
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
}

const WANTED: readonly string[] = ['any', 'read-write', 'read-only', 'primary', 'standby'];
/** Scheme, user information with its `@`, hosts, path, query. */
const PARTS = /^(postgres(?:ql)?:\/\/)((?:.*@)?)([^/?#@]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?$/s;

/**
 * Splits a URL with several servers as libpq writes them:
 * `postgres://user@a:5432,b:5433/name?target_session_attrs=read-write`, or socket folders as `?host=/a,/b`.
 * With several servers the writable one is wanted unless the URL says otherwise. The driver supports a single
 * server.
 * @throws TypeError if ports do not match the hosts, or `target_session_attrs` is unknown
 */
export function listServers(url: string): ServerList {
  const [, scheme = '', user = '', authority = '', path = '', query = ''] = PARTS.exec(url) ?? [];
  const parameters = new URLSearchParams(query);
  const attribute = parameters.get('target_session_attrs');
  const folders = (parameters.get('host') ?? '').split(',');
  const authorities = authority.split(',');
  if (attribute === null && folders.length === 1 && authorities.length === 1) {
    return { urls: [url], wanted: 'any' };
  }
  if (attribute !== null && !WANTED.includes(attribute)) {
    throw new TypeError('an unknown target_session_attrs');
  }
  parameters.delete('target_session_attrs');
  const compose = (host: string, own: URLSearchParams): string =>
    `${scheme}${user}${host}${path}${own.size === 0 ? '' : `?${own.toString()}`}`;
  const urls =
    folders.length > 1
      ? foldersOf(parameters, folders).map((own) => compose(authority, own))
      : authorities.map((host) => compose(host, parameters));
  const [first = url, ...others] = urls;
  const byDefault = others.length > 0 ? 'read-write' : 'any';
  return { urls: [first, ...others], wanted: (attribute as WantedServer | null) ?? byDefault };
}

function foldersOf(parameters: URLSearchParams, folders: readonly string[]): URLSearchParams[] {
  const ports = parameters.get('port')?.split(',') ?? [];
  if (ports.length > 1 && ports.length !== folders.length) {
    throw new TypeError('another number of ports than of hosts');
  }
  return folders.map((folder, index) => {
    const own = new URLSearchParams(parameters);
    own.set('host', folder);
    const port = ports.length > 1 ? ports[index] : ports[0];
    if (port !== undefined) own.set('port', port);
    return own;
  });
}

/** Whether a server has the wanted role. */
export function isWanted(wanted: WantedServer, { isStandby, isReadOnly }: ServerRole): boolean {
  switch (wanted) {
    case 'any':
      return true;
    case 'read-write':
      return !isReadOnly;
    case 'read-only':
      return isReadOnly;
    case 'primary':
      return !isStandby;
    case 'standby':
      return isStandby;
  }
}
