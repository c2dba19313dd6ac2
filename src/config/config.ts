import { z } from 'zod';
import { type ServiceChain } from '../chains/registry/service-chain.ts';
import { type NamedSecret } from '../lib/secret.ts';
import { access } from './access-settings.ts';
import { mcp, metrics, operator } from './host-settings.ts';
import { explorer } from './explorer-settings.ts';
import {
  apiKey,
  chainId,
  choice,
  databaseUrl,
  host,
  integer,
  listSource,
  path,
  PORTS,
  prefix,
  publicUrl,
  section,
  text,
  texts,
  TIMEOUTS_MS,
  toggle,
  unset,
} from './setting-schemas.ts';

const PUBLIC_URL = 'an http or https URL without query, such as https://verify.example.org';

/**
 * Every configuration key with its type, default and facts: the single source of the type {@link Config}, the
 * environment variables, the flags, fullmatch.example.yaml and the messages.
 */
export const configSchema = z.object({
  host: text(host, '127.0.0.1', {
    description: 'The address that both hosts bind; 0.0.0.0 or :: opens them to the network.',
    expected: 'an IP address or a host name, such as 0.0.0.0',
    flag: '--host',
    listener: true,
  }),
  api: section('The API host: /chains and the pages.', {
    enabled: toggle(true, { description: 'Whether this process serves the API host.' }),
    port: integer(PORTS, 5555, {
      description: 'The port of the API host; 0 picks a free one.',
      flag: '--api-port',
      listener: true,
    }),
    prefix: text(prefix, '/server', {
      description: 'A second path for the API host, in addition to its root; "/" for none.',
      expected: "a path that begins with '/' and does not end with it, such as /server",
    }),
    publicUrl: unset(publicUrl, {
      description: 'The URL that clients use for the API host, behind a proxy.',
      expected: PUBLIC_URL,
    }),
  }),
  repository: section('The repository host: /stats.json and the published tree.', {
    enabled: toggle(true, { description: 'Whether this process serves the repository host.' }),
    port: integer(PORTS, 10_000, {
      description: 'The port of the repository host; 0 picks a free one.',
      flag: '--repository-port',
      listener: true,
    }),
    publicUrl: unset(publicUrl, {
      description: 'The URL that clients use for the repository host, behind a proxy.',
      expected: PUBLIC_URL,
    }),
  }),
  http: section('What holds for both hosts.', {
    trustedProxies: texts(z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]), {
      description:
        'Trusted proxies, whose Forwarded or X-Forwarded-For header names the client; from others the address of the connection counts.',
      expected: 'a list of IP addresses and networks, such as [127.0.0.1, 10.0.0.0/8]',
    }),
  }),
  metrics,
  operator,
  dataDir: text(path, './fullmatch-data', {
    description: 'The folder of the embedded database, created if it is missing.',
    expected: 'the path of a folder, such as /var/lib/fullmatch',
    flag: '--data-dir',
    base: 'workingDirectory',
  }),
  database: section('Where verified contracts are stored.', {
    url: unset(databaseUrl, {
      description:
        'The PostgreSQL server (15 or newer) to use instead of the embedded one; better set as DATABASE_URL.',
      expected: 'a PostgreSQL URL, such as postgres://user:password@host:5432/name',
      variable: 'DATABASE_URL',
      secret: true,
    }),
    listenUrl: unset(databaseUrl, {
      description:
        'The same database without a pooler, for notifications and sessions, if `url` points to PgBouncer in transaction mode; better set as DATABASE_LISTEN_URL.',
      expected: 'a PostgreSQL URL, such as postgres://user:password@host:5432/name',
      variable: 'DATABASE_LISTEN_URL',
      secret: true,
    }),
    poolSize: integer([1, 1000], 10, {
      description: 'The most connections that this process opens.',
    }),
    minFreeBytes: integer([0, 2 ** 50], 256 * 2 ** 20, {
      description:
        'The space to keep free on the disk of the embedded database, in bytes; with less, submissions and imports are refused.',
    }),
    sharedBuffersBytes: integer([1_048_576, 2 ** 40], 67_108_864, {
      description:
        'How much memory the embedded PostgreSQL uses for pages of tables and indexes, in bytes; a quarter of the machine where much is stored.',
    }),
    maxConnections: integer([20, 10_000], 100, {
      description:
        'How many connections the embedded PostgreSQL accepts, from this service and from commands.',
    }),
    binaries: unset(path, {
      description: 'A folder with other PostgreSQL programs (15 or newer) for the embedded server.',
      expected: 'the path of a folder, such as /usr/lib/postgresql/17/bin',
      base: 'workingDirectory',
    }),
  }),
  registry: section('Which chains there are.', {
    include: choice(['all', 'configured'], 'all', {
      description:
        'Which chains the registry holds: every listed one, or only configured ones and those with contracts.',
      live: true,
    }),
    list: unset(path, {
      description: 'Your own public chain list, a JSON array, instead of the embedded one.',
      expected: 'the path of a JSON file, such as ./chains.json',
      base: 'workingDirectory',
      live: true,
    }),
    defaults: toggle(true, {
      description: 'Whether the default service configuration of the best-known chains applies.',
      live: true,
    }),
    localChains: toggle(false, {
      description: 'Whether the local chains 1337 and 31337 are enabled.',
      live: true,
    }),
    icons: unset(path, {
      description:
        'A folder with pictures of chains, named by chain id or by the `icon` of the record: 1.svg, ethereum.png.',
      expected: 'the path of a folder, such as ./icons',
      base: 'workingDirectory',
      live: true,
    }),
    sync: z.object({
      urls: texts(listSource, {
        description:
          'Sources to sync the public list from, in order: if one fails, the next is tried; empty for no sync.',
        expected:
          'a list of http or https URLs without query, or paths of JSON files, such as [https://chainid.network/chains.json]',
        base: 'workingDirectory',
      }),
      everySeconds: integer([1, 2_592_000], 3600, {
        description:
          'How often the list is fetched, by all processes of a database together, in seconds.',
      }),
      maxShrinkPercent: integer([0, 100], 5, {
        description:
          'A newer list that lacks more than this share of the known chains is refused, in percent.',
      }),
    }),
  }),
  chainsDirectory: text(path, 'chains.d', {
    description:
      'A folder of more files (*.yaml, *.yml, *.json) that each hold what `chains` may hold; read when it exists.',
    expected: 'the path of a folder, such as ./chains.d',
    base: 'configFolder',
    live: true,
  }),
  chains: z.custom<ReadonlyMap<number, ServiceChain>>(),
  verification: section('Verification of contracts.', {
    workers: integer([0, 64], 2, {
      description:
        'How many verifications run at once in this process; 0 leaves them to other processes of the database.',
    }),
    queueLimit: integer([1, 100_000], 1_000, {
      description: 'How many verifications may wait; further ones get 429.',
    }),
    clientQueueLimit: integer([1, 100_000], 100, {
      description: 'How many verifications of one client may wait; further ones get 429.',
    }),
    waitingRequests: integer([0, 100_000], 2000, {
      description:
        'How many requests of this process may wait for verifications to finish, a tenth of them for one client; others get the current state immediately.',
    }),
    jobTimeoutMs: integer([1000, 3_600_000], 600_000, {
      description: 'How long one verification may take, in milliseconds.',
    }),
    diagnosisMs: integer([0, 3_600_000], 6_000, {
      description:
        'How long a failed verification may try other contracts, settings and compilers to find its cause, in milliseconds; 0 to try none.',
    }),
    recheckRoundSeconds: integer([0, 315_360_000], 2_592_000, {
      description:
        'In how many seconds all verified contracts of a configured chain are read again, to see whether their code changed; 0 for never.',
    }),
    requestBytes: integer([1024, 2 ** 30], 31_457_280, {
      description: 'The largest body of a request to verify, in bytes.',
    }),
  }),
  access,
  signatures: section('The signature database, at /signature-database/v1.', {
    importedMax: integer([0, 1_000_000_000], 100_000, {
      description:
        'How many signatures that belong to no verified contract can be imported in total, at about 300 bytes of database space each; 0 disables the import.',
    }),
  }),
  etherscan: section(
    'Verifying with sources from another explorer, at POST /v2/verify/etherscan/{chainId}/{address}.',
    {
      url: text(z.union([z.literal('off'), publicUrl]), 'off', {
        description:
          'The Etherscan-compatible API to fetch sources from (getsourcecode); {chainId} in its path is replaced by the chain id; off for none.',
        expected:
          'off, or an http or https URL without query, such as https://api.etherscan.io/v2/api',
      }),
      apiKey: unset(apiKey, {
        description: 'The API key for requests that do not bring their own.',
        expected: 'a key without white space, such as 0123456789ABCDEF',
        secret: true,
      }),
      clientKeyUrl: text(
        z.union([z.literal('off'), publicUrl]),
        'https://api.etherscan.io/v2/api',
        {
          description:
            'The Etherscan-compatible API to query when url is off and a request carries its own apiKey, for every chain except local ones; off to query none.',
          expected:
            'off, or an http or https URL without query, such as https://api.etherscan.io/v2/api',
        },
      ),
    },
  ),
  externalVerifications: section('Forwarding contracts verified here to other explorers.', {
    chains: texts(chainId, {
      description: 'The ids of the chains whose contracts are forwarded; all if none is given.',
      expected: 'ids of chains, such as 1 or [1, 10]',
    }),
    etherscan: explorer('Etherscan', 'https://api.etherscan.io/v2/api'),
    blockscout: explorer('a Blockscout', 'https://blockscout.example.org/api'),
    routescan: explorer(
      'Routescan',
      'https://api.routescan.io/v2/network/mainnet/evm/{chainId}/etherscan/api',
    ),
  }),
  compilers: section('The compilers that verification runs.', {
    folder: text(path, 'compilers', {
      description:
        'Where compilers are stored and downloaded to; by default a folder in the data directory.',
      expected: 'the path of a folder, such as ./compilers',
      base: 'dataDir',
    }),
    downloadUrl: text(z.union([z.literal('off'), publicUrl]), 'https://binaries.soliditylang.org', {
      description:
        'Where compilers are downloaded from when they are first needed: the official Solidity binaries or a mirror of them, with /bin and /linux-amd64 below it; off to download nothing.',
      expected: 'off, or an http or https URL without query, such as https://binaries.example.org',
    }),
    vyperDownloadUrl: text(
      z.union([z.literal('off'), publicUrl]),
      'https://github.com/vyperlang/vyper/releases/download',
      {
        description:
          'Where compilers of Vyper are downloaded from: its releases or a mirror of them; off to download none, as with compilers.downloadUrl: off.',
        expected:
          'off, or an http or https URL without query, such as https://binaries.example.org/vyper',
      },
    ),
    downloadBytes: integer([2 ** 27, 2 ** 40], 2_000_000_000, {
      description:
        'How much disk downloaded compilers may take, in bytes; those used longest ago are removed first.',
    }),
    timeoutMs: integer([1000, 3_600_000], 180_000, {
      description: 'How long one compilation may take, in milliseconds.',
    }),
    memoryBytes: integer([2 ** 27, 2 ** 32], 1536 * 2 ** 20, {
      description: 'How much memory one compilation may take, in bytes.',
    }),
  }),
  health: section('Watching the endpoints of chains.', {
    enabled: toggle(true, {
      description: 'Whether endpoints of chains are probed.',
    }),
    supportedChains: toggle(true, {
      description:
        'Whether supported chains that are not configured are probed too, lightly: three endpoints each, every half an hour.',
    }),
    everySeconds: integer([1, 86_400], 60, {
      description:
        'How long between two probes of an endpoint, in seconds; chance and health.dailyBudget vary it.',
    }),
    dailyBudget: integer([10, 10_000_000], 5000, {
      description:
        'The most requests that probes and the monitor send to one host in a day; nodes of your own are not counted for the monitor.',
    }),
  }),
  monitor: section(
    'The monitor, which finds new contracts of chains with `monitor` and verifies those whose sources are available.',
    {
      enabled: toggle(true, {
        description:
          'Whether this process follows chains and works on what was found; other processes of the database may.',
      }),
      gateways: texts(
        publicUrl,
        {
          description:
            'Trustless IPFS gateways for metadata and sources, in order; [] for none. Their responses are checked.',
          expected: 'a list of http or https URLs without query, such as [https://ipfs.io]',
        },
        ['https://trustless-gateway.link', 'https://ipfs.io', 'https://dweb.link'],
      ),
      swarmGateways: texts(publicUrl, {
        description: 'Gateways of Swarm, for contracts whose metadata is there; none by default.',
        expected:
          'a list of http or https URLs without query, such as [https://api.gateway.ethswarm.org]',
      }),
      stallSeconds: integer([10, 86_400], 600, {
        description:
          'How long the monitor of a chain may make no progress before /chains shows monitored: false, in seconds.',
      }),
      keepDays: integer([1, 3650], 90, {
        description:
          'How long found contracts are listed after they are done, in days; their counts stay.',
      }),
    },
  ),
  mcp,
  events: section('Events as they happen, at /v1/events.', {
    maxClients: integer([0, 100_000], 200, {
      description:
        'How many clients may listen to /v1/events of this process at once, a quarter of them from one client address; further ones get 503.',
    }),
  }),
  log: section('Log lines on standard output.', {
    level: choice(['debug', 'info', 'warn', 'error', 'silent'], 'info', {
      description: 'The least level that is logged.',
      flag: '--log-level',
      live: true,
    }),
    format: choice(['auto', 'json', 'human'], 'auto', {
      description: 'How log lines look; auto is human on a terminal and json elsewhere.',
    }),
  }),
  limits: section('What a client may send, and how long the service waits.', {
    requestBytes: integer([1024, 2 ** 30], 1_048_576, {
      description: 'The largest body of a request, in bytes.',
    }),
    sources: integer([1, 100_000], 2000, {
      description: 'How many source files a request to verify may send or name.',
    }),
    sourceBytes: integer([1024, 2 ** 30], 5_242_880, {
      description:
        'How much source text of a verified contract is kept, in bytes; a contract with more is not verified.',
    }),
    requestTimeoutMs: integer(TIMEOUTS_MS, 30_000, {
      description: 'How long a client may take to send a whole request, in milliseconds.',
    }),
    keepAliveTimeoutMs: integer(TIMEOUTS_MS, 65_000, {
      description:
        "How long an idle connection is kept, in milliseconds; longer than a proxy's own, so that the proxy closes first.",
    }),
    shutdownTimeoutMs: integer(TIMEOUTS_MS, 10_000, {
      description: 'How long a stopping service waits for the requests at work, in milliseconds.',
    }),
  }),
});

/** The validated configuration. */
export type Config = z.infer<typeof configSchema>;

/** A validated configuration with the origin of its values. */
export interface LoadedConfig {
  readonly config: Config;
  /**
   * Dotted key → `default`, the file's name, `environment FULLMATCH_HOST` or `flag --host`. A configured
   * chain has the key `chains.<chainId>`.
   */
  readonly origins: ReadonlyMap<string, string>;
  /** Secrets that must not appear in any output. */
  readonly secrets: readonly NamedSecret[];
  /** Configuration file that was read, as shown to the operator. */
  readonly file?: string;
}
