import { z } from 'zod';
import {
  choice,
  integer,
  MAXIMUM_TIMEOUT_MS,
  text,
  texts,
  toggle,
  type Setting,
} from './setting.ts';

const PORTS = [0, 65_535] as const;
const TIMEOUTS_MS = [100, MAXIMUM_TIMEOUT_MS] as const;

const path = z
  .string()
  .min(1)
  .refine((value) => !value.includes('\0'));

const host = z.union([
  z.ipv4(),
  z.ipv6(),
  z.string().regex(/^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$/),
]);

/** `/` alone is the same as no prefix. */
const prefix = z
  .string()
  .transform((value) => (value === '/' ? '' : value))
  .refine((value) => /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/.test(value));

/** An origin and path without user information, query or fragment; a closing slash is taken off. */
const publicUrl = z
  .string()
  .refine((value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    return (
      url !== undefined &&
      ['http:', 'https:'].includes(url.protocol) &&
      url.username + url.password + url.search + url.hash === '' &&
      !value.includes('@')
    );
  })
  .transform((value) => value.replace(/\/+$/, ''));

/** A URL that can be shown to anyone, or the path of a file. */
const listSource = z.union([
  publicUrl,
  path.refine((value) => !/^[a-z][a-z0-9+.-]*:\/\//i.test(value) && !/[\s,]/.test(value)),
]);

const PUBLIC_URL = 'an http or https URL without query, such as https://verify.example.org';

/**
 * Every key of the configuration but `chains`, with its default: the single source of the environment names,
 * the flags, fullmatch.example.yaml and the messages.
 */
export const SETTINGS = {
  host: text(
    host,
    '127.0.0.1',
    'an IP address or a host name, such as 0.0.0.0',
    'The address that both hosts bind; 0.0.0.0 or :: opens them to the network.',
    { flag: '--host' },
  ),
  'api.enabled': toggle(true, 'Whether this process serves the API host.'),
  'api.port': integer(PORTS, 5555, 'The port of the API host; 0 picks a free one.', {
    flag: '--api-port',
  }),
  'api.prefix': text(
    prefix,
    '/server',
    "a path that begins with '/' and does not end with it, such as /server",
    'A path under which the API host answers too, beside its root; "/" for none.',
  ),
  'api.publicUrl': text(
    publicUrl,
    undefined,
    PUBLIC_URL,
    'The URL by which clients reach the API host, where a proxy stands before it.',
  ),
  'repository.enabled': toggle(true, 'Whether this process serves the repository host.'),
  'repository.port': integer(
    PORTS,
    10_000,
    'The port of the repository host; 0 picks a free one.',
    {
      flag: '--repository-port',
    },
  ),
  'repository.publicUrl': text(
    publicUrl,
    undefined,
    PUBLIC_URL,
    'The URL by which clients reach the repository host, where a proxy stands before it.',
  ),
  'http.trustedProxies': texts(
    z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]),
    'a list of IP addresses and networks, such as [127.0.0.1, 10.0.0.0/8]',
    'Proxies that tell in Forwarded or X-Forwarded-For whom they ask for; without it the address of the connection counts.',
  ),
  'metrics.enabled': toggle(
    false,
    'Whether Prometheus metrics are served at /metrics on 127.0.0.1.',
  ),
  'metrics.port': integer(PORTS, 9464, 'The port of the metrics; 0 picks a free one.'),
  dataDir: text(
    path,
    './fullmatch-data',
    'the path of a folder, such as /var/lib/fullmatch',
    'The folder of the embedded database, made when it is missing.',
    { flag: '--data-dir', path: true },
  ),
  'database.url': text(
    z.string().regex(/^postgres(ql)?:\/\/./),
    undefined,
    'a PostgreSQL URL, such as postgres://user:password@host:5432/name',
    'The PostgreSQL server (15 or newer) to use in place of the embedded one; better set as DATABASE_URL.',
    { secret: true },
  ),
  'database.poolSize': integer([1, 1000], 10, 'The most connections that this process opens.'),
  'database.minFreeBytes': integer(
    [0, 2 ** 50],
    256 * 2 ** 20,
    'The space to keep free on the disk of the embedded database, in bytes; with less, submissions and imports are refused.',
  ),
  'database.binaries': text(
    path,
    undefined,
    'the path of a folder, such as /usr/lib/postgresql/17/bin',
    'A folder with other PostgreSQL programs (15 or newer) for the embedded server.',
    { path: true },
  ),
  'registry.include': choice(
    ['all', 'configured'],
    'all',
    'Which chains the registry holds: every listed one, or only configured ones and those with contracts.',
  ),
  'registry.list': text(
    path,
    undefined,
    'the path of a JSON file, such as ./chains.json',
    "Your own public chain list, a JSON array, in place of the embedded one's.",
    { path: true },
  ),
  'registry.defaults': toggle(
    true,
    'Whether the default service configuration of the best-known chains applies.',
  ),
  'registry.localChains': toggle(false, 'Whether the local chains 1337 and 31337 are enabled.'),
  'registry.icons': text(
    path,
    undefined,
    'the path of a folder, such as ./icons',
    'A folder with pictures of chains, named by chain id or by the `icon` of the record: 1.svg, ethereum.png.',
    { path: true },
  ),
  'registry.sync.urls': texts(
    listSource,
    'a list of http or https URLs without query, or paths of JSON files, such as [https://chainid.network/chains.json]',
    'Where the public list is kept current from, in order: the next source is asked when one fails; empty for no sync.',
  ),
  'registry.sync.everySeconds': integer(
    [1, 2_592_000],
    3600,
    'How often the sources are asked, by all processes of a database together, in seconds.',
  ),
  'registry.sync.maxShrinkPercent': integer(
    [0, 100],
    5,
    'A newer list that lacks more than this share of the known chains is refused, in percent.',
  ),
  chainsDirectory: text(
    path,
    'chains.d',
    'the path of a folder, such as ./chains.d',
    'A folder of more files (*.yaml, *.yml, *.json) that each hold what `chains` may hold; read when it exists.',
    { path: true },
  ),
  'verification.workers': integer(
    [0, 64],
    2,
    'How many verifications run at once in this process; 0 leaves them to other processes of the database.',
  ),
  'verification.queueLimit': integer(
    [1, 100_000],
    200,
    'How many verifications may wait; then a client takes the place of another that has more of them, or is answered 429.',
  ),
  'verification.clientQueueLimit': integer(
    [1, 100_000],
    100,
    'How many verifications of one client, or of its network, may wait; more are answered 429.',
  ),
  'verification.waitingRequests': integer(
    [0, 100_000],
    2000,
    'How many requests of this process may wait for the ends of verifications; others are answered at once.',
  ),
  'verification.clientWaitingRequests': integer(
    [0, 100_000],
    200,
    'How many requests of one client, or of its network, may wait so.',
  ),
  'verification.jobWaitingRequests': integer(
    [0, 100_000],
    50,
    'How many requests may wait so for one verification.',
  ),
  'verification.jobTimeoutMs': integer(
    [1000, 3_600_000],
    600_000,
    'How long one verification may take, in milliseconds.',
  ),
  'verification.recheckPerHour': integer(
    [0, 36_000],
    60,
    'How many verified contracts of each configured chain are read again in an hour, to see whether their code changed; 0 for none.',
  ),
  'verification.requestBytes': integer(
    [1024, 2 ** 30],
    31_457_280,
    'The largest body of a request to verify, in bytes.',
  ),
  'compilers.folder': text(
    path,
    undefined,
    'the path of a folder, such as ./compilers',
    'Where compilers are kept and downloaded ones are put; a folder in the data directory when it is not set.',
    { path: true },
  ),
  'compilers.downloadUrl': text(
    publicUrl,
    undefined,
    'an http or https URL without query, such as https://binaries.example.org',
    'A mirror of the Solidity binaries, with /bin/list.json below it; without it only the compilers at hand are used.',
  ),
  'compilers.timeoutMs': integer(
    [1000, 3_600_000],
    180_000,
    'How long one compilation may take, in milliseconds.',
  ),
  'compilers.memoryBytes': integer(
    [2 ** 27, 2 ** 32],
    1536 * 2 ** 20,
    'How much memory one compilation may take, in bytes.',
  ),
  'health.enabled': toggle(true, 'Whether the endpoints of configured chains are probed.'),
  'health.everySeconds': integer(
    [1, 86_400],
    60,
    'How long between two probes of an endpoint, in seconds; chance and health.dailyBudget vary it.',
  ),
  'health.dailyBudget': integer(
    [10, 10_000_000],
    5000,
    'The most requests that probes send to one host in a day.',
  ),
  'events.maxClients': integer(
    [0, 100_000],
    200,
    'How many clients may listen to /v1/events of this process at once; more are answered 503.',
  ),
  'events.connectionsPerClient': integer(
    [0, 100_000],
    50,
    'How many connections of one client, or of its network, may listen to /v1/events at once; more are answered 503.',
  ),
  'log.level': choice(
    ['debug', 'info', 'warn', 'error', 'silent'],
    'info',
    'The least level that is logged.',
    { flag: '--log-level' },
  ),
  'log.format': choice(
    ['auto', 'json', 'human'],
    'auto',
    'How log lines look; auto is human on a terminal and json elsewhere.',
  ),
  'limits.requestBytes': integer(
    [1024, 2 ** 30],
    1_048_576,
    'The largest body of a request, in bytes.',
  ),
  'limits.bodyMemoryBytes': integer(
    [2 ** 20, 2 ** 34],
    67_108_864,
    'How much of all bodies that are being received or read may be in memory, in bytes; the rest goes to temporary files in the data directory.',
  ),
  'limits.bodySpoolBytes': integer(
    [0, 2 ** 40],
    1_073_741_824,
    'How much of all bodies may be in temporary files, in bytes; beyond it requests are answered 503.',
  ),
  'limits.clientBodyBytes': integer(
    [2 ** 20, 2 ** 40],
    67_108_864,
    'How much of the bodies of one client, or of its network, may be in memory and in files, in bytes; beyond it requests are answered 429. One body of verification.requestBytes always fits.',
  ),
  'limits.answerCacheBytes': integer(
    [0, 2 ** 34],
    67_108_864,
    'How much of the answers with records of contracts is kept in memory, in bytes.',
  ),
  'limits.answerBytes': integer(
    [2 ** 20, 2 ** 40],
    134_217_728,
    'How much of all large answers may wait in memory for clients to take them, in bytes; beyond it requests are answered 503.',
  ),
  'limits.clientAnswerBytes': integer(
    [2 ** 20, 2 ** 40],
    67_108_864,
    'How much of the large answers of one client may wait so, in bytes; beyond it requests are answered 429. One answer always fits.',
  ),
  'limits.jsonDepth': integer(
    [8, 1000],
    64,
    'How many levels of objects and arrays a body, or a metadata.json in it, may have.',
  ),
  'limits.jsonValues': integer(
    [1000, 10_000_000],
    200_000,
    'How many values the JSON of a body, or all metadata.json in it, may have.',
  ),
  'limits.sources': integer(
    [1, 100_000],
    2000,
    'How many source files a request to verify may send or name.',
  ),
  'limits.sourceBytes': integer(
    [1024, 2 ** 30],
    5_242_880,
    'How much source text of a verified contract is kept, in bytes; a contract with more is not verified.',
  ),
  'limits.headerBytes': integer([1024, 1_048_576], 16_384, 'All headers of a request, in bytes.'),
  'limits.requestTimeoutMs': integer(
    TIMEOUTS_MS,
    30_000,
    'How long a client may take to send a whole request, in milliseconds.',
  ),
  'limits.headersTimeoutMs': integer(
    TIMEOUTS_MS,
    10_000,
    'How long a client may take to send the headers of a request, in milliseconds.',
  ),
  'limits.keepAliveTimeoutMs': integer(
    TIMEOUTS_MS,
    65_000,
    "How long an idle connection is kept, in milliseconds; longer than a proxy's own, so that the proxy closes first.",
  ),
  'limits.shutdownTimeoutMs': integer(
    TIMEOUTS_MS,
    10_000,
    'How long a stopping service waits for the requests at work, in milliseconds.',
  ),
} as const;

/** A dotted key of {@link SETTINGS}. */
export type SettingKey = keyof typeof SETTINGS;

/** The value that a key holds once the configuration is settled. A key without a default may be unset. */
export type SettingValue<Key extends SettingKey> =
  (typeof SETTINGS)[Key] extends Setting<infer Value, infer Default> ? Value | Default : never;

/** The keys of {@link SETTINGS} in their order, which is the order of fullmatch.example.yaml. */
export const SETTING_KEYS = Object.keys(SETTINGS) as readonly SettingKey[];

/** What a section is about, for fullmatch.example.yaml. */
export const SECTIONS = {
  api: 'The API host: /chains and the pages.',
  repository: 'The repository host: /stats.json and the published tree.',
  http: 'What holds for both hosts.',
  metrics: 'Metrics of this process.',
  database: 'Where verified contracts are stored.',
  registry: 'Which chains there are.',
  verification: 'Verification of contracts.',
  compilers: 'The compilers that verification runs.',
  health: 'Watching the endpoints of configured chains.',
  events: 'Events as they happen, at /v1/events.',
  log: 'Log lines on standard output.',
  limits: 'What a client may send, and how long the service waits.',
} as const satisfies Record<string, string>;

/** The setting of a key, without its own value type. */
export function settingOf(key: SettingKey): Setting<unknown> {
  return SETTINGS[key];
}

/**
 * The environment variable of a key: `FULLMATCH_` and the key in capitals, such as `FULLMATCH_API_PORT`.
 * Only `database.url` has the name that every platform uses for it.
 */
export function environmentName(key: SettingKey): string {
  if (key === 'database.url') return 'DATABASE_URL';
  const words = key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).replaceAll('.', '_');
  return `FULLMATCH_${words.toUpperCase()}`;
}

/** The variable that names the configuration file, beside those of the keys. */
export const CONFIG_VARIABLE = 'FULLMATCH_CONFIG';
