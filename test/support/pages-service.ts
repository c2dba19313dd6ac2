import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAbi } from 'viem';
import { saveMatches } from '../../src/repository/matches/save-matches.ts';
import { type VerifiedContract } from '../../src/repository/matches/verified-contract.ts';
import { withdrawMatch } from '../../src/repository/matches/withdraw-match.ts';
import { sql, type Database } from '../../src/store/database.ts';
import { type Hex } from '../../src/lib/hex.ts';
import { deploy, findAnvil, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './anvil.ts';
import { ALL_CHAINS, bootService, type BootedService } from './booted-service.ts';
import { followed } from './followed.ts';
import { sampleAddress, sampleContract } from './sample-contracts.ts';
import { sharedData } from './shared-data.ts';
import { compileAsDeveloper, inputOf } from './developer.ts';
import { verifyOverV2, type WireJob } from './verification-client.ts';

/** The chain with the longest id and a name of 60 characters. */
const FAR_CHAIN_ID = Number.MAX_SAFE_INTEGER;
const LONG_NAME = 'The Long-Winded Settlement Chain of the Northern Archipelago';

/** Contracts of the filled service, by what they demonstrate. */
const SHOWN = {
  full: sampleAddress(0xf0_01),
  partial: sampleAddress(0xf0_02),
  /** Sources with deceptive letters. */
  deceiving: sampleAddress(0xf0_03),
  far: sampleAddress(0xf0_04),
  absent: sampleAddress(0xf0_05),
  withdrawn: sampleAddress(0xf0_06),
} as const;

type Distribution = Readonly<
  Record<string, { readonly full_match: number; readonly partial_match: number }>
>;

/** An icon of chain 1. */
const ICONS = fileURLToPath(new URL('../fixtures/icons', import.meta.url));
const PUBLIC_LIST = new URL('../../generated/public-chain-list.json', import.meta.url);

/**
 * The counts of a large service: the real ones of 2026 if they exist next to the checkout, otherwise made-up
 * ones of real chains.
 */
function largeDistribution(): Distribution {
  const real = sharedData('stats-2026-08-22.json') as Distribution | undefined;
  if (real !== undefined) return real;
  const chains = JSON.parse(readFileSync(PUBLIC_LIST, 'utf8')) as readonly { chainId: number }[];
  const entries = chains.slice(0, 374).map(({ chainId }, index) => {
    const size = Math.round(20_100_000 / (index + 1) ** 1.6);
    const counts = { full_match: Math.round(size * 0.29), partial_match: Math.round(size * 0.71) };
    return [String(chainId), counts] as const;
  });
  return Object.fromEntries(entries);
}

const COLUMNS = ['full_match', 'partial_match', 'full_claims', 'partial_claims'];
const COUNTS = COLUMNS.join(', ');
const eachCount = (write: (column: string) => string): string => COLUMNS.map(write).join(', ');
const addTo = (table: string): string =>
  eachCount((column) => `${column} = ${table}.${column} + excluded.${column}`);

// Fills counts and feed followers as if the contracts had been added over five months, slightly faster each
// week.
const FILL = sql(
  'test fill statistics',
  `WITH given AS (
     SELECT *, round(full_match * 0.1) AS full_claims, round(partial_match * 0.2) AS partial_claims
     FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS row (chain_id, full_match, partial_match)
   ), steps AS (
     SELECT step, (now() AT TIME ZONE 'UTC')::date - (150 - step) AS day,
       (1000 + step * step)::numeric / (SELECT sum(1000 + s * s) FROM generate_series(0, 150) AS s) AS part
     FROM generate_series(0, 150) AS step
   ), counts AS (
     INSERT INTO chain_counts AS counts (chain_id, full_match, partial_match)
     SELECT chain_id, full_match, partial_match FROM given
     ON CONFLICT (chain_id) DO UPDATE SET full_match = counts.full_match + excluded.full_match,
       partial_match = counts.partial_match + excluded.partial_match
   ), activity AS (
     INSERT INTO chain_activity AS activity
       (chain_id, events, codes, first_verified_at, last_verified_at, ${COUNTS})
     SELECT chain_id, full_match + partial_match, (full_match + partial_match) / 40, now() - interval '150 days',
       now() - chain_id % 5000 * interval '1 minute', ${COUNTS} FROM given
     ON CONFLICT (chain_id) DO UPDATE SET events = activity.events + excluded.events, ${addTo('activity')}
   ), daily AS (
     INSERT INTO daily_counts AS counts (chain_id, day, ${COUNTS})
     SELECT chain_id, day, ${eachCount((count) => `round(${count} * part)`)} FROM given CROSS JOIN steps
     ON CONFLICT (chain_id, day) DO UPDATE SET ${addTo('counts')}
   ), hourly AS (
     INSERT INTO hourly_totals AS totals (hour, ${COUNTS})
     SELECT date_trunc('hour', now()) - n * interval '6 hours', ${eachCount((count) => `sum(trunc(${count} / 3000))`)}
     FROM given CROSS JOIN generate_series(0, 27) AS n GROUP BY n
     ON CONFLICT (hour) DO UPDATE SET ${addTo('totals')}
   ), daily_total AS (
     INSERT INTO daily_totals AS totals (day, ${COUNTS})
     SELECT day, ${eachCount((count) => `sum(round(${count} * part))`)} FROM given CROSS JOIN steps GROUP BY day
     ON CONFLICT (day) DO UPDATE SET ${addTo('totals')}
   ), falls AS (
     INSERT INTO daily_falls (chain_id, day, reason, full_match, partial_match)
     SELECT chain_id, (now() AT TIME ZONE 'UTC')::date - 40, 'A batch of imports named the wrong chain', -12, -345
     FROM given WHERE chain_id = 10 ON CONFLICT DO NOTHING
   )
   INSERT INTO compiler_counts AS counts (chain_id, origin, trust, language, version, full_match, partial_match)
   SELECT chain_id, origin::match_origin, (CASE origin WHEN 'imported' THEN 'claimed' ELSE 'verified' END)::match_trust, language, version,
     round(CASE origin WHEN 'imported' THEN full_claims ELSE full_match - full_claims END * part),
     round(CASE origin WHEN 'imported' THEN partial_claims ELSE partial_match - partial_claims END * part)
   FROM given CROSS JOIN (VALUES
     ('verified', 'solidity', '0.8.19+commit.7dd6d404', 0.38), ('verified', 'solidity', '0.8.20+commit.a1b79de6', 0.25),
     ('imported', 'solidity', '0.8.30+commit.73712a01', 0.7), ('verified', 'solidity', '0.4.26+commit.4563c3fc', 0.16),
     ('monitored', 'solidity', '0.8.37+commit.f401782d', 0.13), ('imported', 'vyper', '0.3.10+commit.91361694', 0.3),
     ('verified', 'yul', '0.8.30+commit.73712a01', 0.08)) AS share (origin, language, version, part)
   ON CONFLICT (chain_id, origin, trust, language, version) DO UPDATE SET
     full_match = counts.full_match + excluded.full_match, partial_match = counts.partial_match + excluded.partial_match`,
);

/** Gives a database the counts of a large service without its contracts. */
export async function fillStatistics(
  database: Database,
  distribution: Distribution = largeDistribution(),
): Promise<void> {
  const entries = Object.entries(distribution);
  await database.query(FILL, [
    entries.map(([chainId]) => Number(chainId)),
    entries.map(([, counts]) => counts.full_match),
    entries.map(([, counts]) => counts.partial_match),
  ]);
}

const TOKEN = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.7;

import "./Owned.sol";

/// @title A token of the tests.
contract Token is Owned {
    string public constant name = "Test Token";
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor() {
        balanceOf[msg.sender] = 1_000 ether;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value; // reverts where it would fall below zero
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}
`;
const OWNED = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.7;

/// @title Has an owner.
contract Owned {
    address public immutable owner = msg.sender;
}
`;
const TOKEN_PATH = 'contracts/Token.sol';
const TOKEN_SOURCES = { [TOKEN_PATH]: TOKEN, 'contracts/Owned.sol': OWNED };

/** Its compiler output. */
const TOKEN_ABI = [
  'constructor()',
  'function name() view returns (string)',
  'function balanceOf(address) view returns (uint256)',
  'function owner() view returns (address)',
  'function transfer(address to, uint256 value) returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
];

/** Imported contracts to view pages with. */
function shownContracts(): readonly VerifiedContract[] {
  const contract = (
    address: Hex,
    match: 'full' | 'partial',
    sources: Readonly<Record<string, string>>,
    chainId = 1,
  ): VerifiedContract => {
    const sample = sampleContract(chainId, address, { runtimeMatch: match, creationMatch: match });
    return {
      ...sample,
      compilation: {
        ...sample.compilation,
        name: 'Token',
        fullyQualifiedName: `${TOKEN_PATH}:Token`,
        metadata: JSON.stringify({ address }),
        artifacts: { abi: parseAbi(TOKEN_ABI) },
        sources: Object.entries(sources).map(([path, content]) => ({ path, content })),
      },
    };
  };
  const deceiving = {
    [TOKEN_PATH]: `// access \u202e} if (isAdmin)\u2066 is checked\n${TOKEN}a\u200bb`,
  };
  return [
    contract(SHOWN.full, 'full', TOKEN_SOURCES),
    contract(SHOWN.partial, 'partial', TOKEN_SOURCES),
    contract(SHOWN.deceiving, 'partial', deceiving),
    contract(SHOWN.far, 'full', TOKEN_SOURCES, FAR_CHAIN_ID),
    contract(SHOWN.withdrawn, 'full', TOKEN_SOURCES),
  ];
}

/** Jobs that ended in each way: with a match, with other bytecode, with a compiler error. */
export type EndedJobs = Readonly<Record<'verified' | 'different' | 'broken', WireJob>>;

/** A service with the counts of a large one, some contracts, and, if an EVM node is available, jobs of each kind. */
export interface PagesService {
  readonly service: BootedService;
  /** Undefined without an EVM node. */
  readonly jobs?: EndedJobs;
  readonly close: () => Promise<void>;
}

/** Starts the real service with all its chains on a database and fills it. `more` is YAML after `chains:`. */
export async function startPagesService(
  { url, database }: { readonly url: string; readonly database: Database },
  more = '',
): Promise<PagesService> {
  const anvil =
    findAnvil() === undefined ? undefined : await startAnvil({ chainId: VERIFIED_CHAIN_ID });
  await saveMatches(database, shownContracts());
  const reason = 'claim_disproved';
  await withdrawMatch(database, { chainId: 1, address: SHOWN.withdrawn, reason });
  await fillStatistics(database);
  const environment = { ...ALL_CHAINS, FULLMATCH_REGISTRY_ICONS: ICONS };
  const service = await bootService({ databaseUrl: url, yaml: yamlOf(anvil, more), environment });
  const close = async (): Promise<void> => {
    await service.close();
    await anvil?.stop();
  };
  try {
    await followed(service, database);
    if (anvil === undefined) return { service, close };
    return { service, close, jobs: await runJobs(anvil, service) };
  } catch (error) {
    await close();
    throw error;
  }
}

function yamlOf(anvil: Anvil | undefined, more: string): string {
  return `
chains:
  ${VERIFIED_CHAIN_ID}: { name: Chain of the tests, local: true, rpc: ['${anvil?.url ?? 'http://127.0.0.1:8545'}'] }
  ${FAR_CHAIN_ID}: { name: '${LONG_NAME}', shortName: far, supported: false }
${more}`;
}

async function runJobs(anvil: Anvil, { apiUrl }: BootedService): Promise<EndedJobs> {
  const input = inputOf(TOKEN_SOURCES);
  const { creationCode } = await compileAsDeveloper('0.8.37', input, TOKEN_PATH, 'Token');
  const body = (sources: Readonly<Record<string, string>>): object => ({
    stdJsonInput: inputOf(sources),
    compilerVersion: '0.8.37',
    contractIdentifier: `${TOKEN_PATH}:Token`,
  });
  const [first, second] = [await deploy(anvil, creationCode), await deploy(anvil, creationCode)];
  const other = { ...TOKEN_SOURCES, [TOKEN_PATH]: TOKEN.replace('+= value', '+= value + 1') };
  const broken = {
    ...TOKEN_SOURCES,
    [TOKEN_PATH]: TOKEN.replace('returns (bool)', 'returns (boo)'),
  };
  return {
    verified: await verifyOverV2(apiUrl, first.address, {
      ...body(TOKEN_SOURCES),
      creationTransactionHash: first.transactionHash,
    }),
    different: await verifyOverV2(apiUrl, second.address, body(other)),
    broken: await verifyOverV2(apiUrl, second.address, body(broken)),
  };
}

/** The URL of every view in each of its states, by name. */
export function listViews({ jobs, service }: PagesService): Readonly<Record<string, string>> {
  const jobPath = (job: WireJob): string => `/job/${job.verificationId}`;
  const ofApi: Readonly<Record<string, string>> = {
    overview: '/',
    chains: '/registry',
    'chains-filtered': '/registry?q=sepolia',
    'chains-none': '/registry?q=zzzzzzzz',
    chain: '/registry/1',
    'chain-far': `/registry/${FAR_CHAIN_ID}`,
    'chain-absent': '/registry/123456789012',
    contracts: '/contracts',
    'contracts-found': '/contracts?q=token',
    'contracts-none': `/contracts?q=${SHOWN.absent}`,
    'contracts-malformed': '/contracts?q=0x1234',
    'search-found': '/search?q=base',
    'search-none': '/search?q=sepola',
    'search-signature': '/search?q=transfer(address,uint256)',
    'search-unknown-job': '/search?q=00000000-0000-4000-8000-000000000000',
    statistics: '/statistics',
    'contract-full': `/contract/1/${SHOWN.full}`,
    'contract-abi': `/contract/1/${SHOWN.full}?tab=abi`,
    'contract-downloads': `/contract/1/${SHOWN.full}?tab=downloads`,
    'contract-history': `/contract/1/${SHOWN.full}?tab=history`,
    'contract-found': `/contract/1/${SHOWN.full}?find=owner`,
    'contract-partial': `/contract/1/${SHOWN.partial}`,
    'contract-deceiving': `/contract/1/${SHOWN.deceiving}`,
    'contract-withdrawn': `/contract/1/${SHOWN.withdrawn}`,
    'contract-withdrawn-history': `/contract/1/${SHOWN.withdrawn}?tab=history`,
    'contract-absent': `/contract/1/${SHOWN.absent}`,
    compare: `/compare/1/${SHOWN.full}?with=${SHOWN.partial}`,
    'compare-absent': `/compare/1/${SHOWN.full}?with=${SHOWN.absent}`,
    'contract-far': `/contract/${FAR_CHAIN_ID}/${SHOWN.far}`,
    verify: '/verify',
    'job-absent': '/job/00000000-0000-4000-8000-000000000000',
    counts: '/counts',
    docs: '/docs',
    'page-absent': '/nothing',
    ...(jobs && {
      'contract-proof': `/contract/${VERIFIED_CHAIN_ID}/${jobs.verified.contract.address}?tab=proof`,
      'contract-verified': `/contract/${VERIFIED_CHAIN_ID}/${jobs.verified.contract.address}`,
      'job-verified': jobPath(jobs.verified),
      'job-different': jobPath(jobs.different),
      'job-broken': jobPath(jobs.broken),
    }),
  };
  const ofRepository = {
    repository: '/',
    'folder-root': '/contracts/',
    'folder-match': '/contracts/full_match/',
    'folder-chain': '/contracts/full_match/1/',
    folder: `/contracts/full_match/1/${SHOWN.full}`,
    'folder-absent': `/contracts/full_match/1/${SHOWN.absent}`,
    'file-absent': '/nothing',
  };
  return {
    ...urlsOf(service.apiUrl, ofApi),
    ...urlsOf(service.repositoryUrl, ofRepository),
  };
}

function urlsOf(
  host: string,
  paths: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(paths).map(([name, at]) => [name, `${host}${at}`]));
}
