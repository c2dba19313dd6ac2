import { stat } from 'node:fs/promises';
import { type ChainHealthReport, type EndpointReport } from '../../chains/health/health-report.ts';
import { EMBEDDED_LIST } from '../../chains/list/embedded-list-date.ts';
import { readSyncState } from '../../chains/list/sync-state.ts';
import { type DoctorDependencies } from './doctor-dependencies.ts';
import { type AreaReport } from './finding.ts';

const DAY_MS = 86_400_000;
/** Chains are added, changed and removed every week. */
const OLD_LIST_DAYS = 90;
/** Exceeds the skew of synchronized clocks plus the response time of a busy server. */
const CLOCK_TOLERANCE_MS = 5_000;
/** Reasons for which an endpoint refuses us: a wrong or missing key. */
const REFUSED: ReadonlySet<string> = new Set(['status_401', 'status_403']);
const SYNC_RETRY_MS = 60_000;
const SYNC = 'registry.sync.urls: [https://chainid.network/chains.json]';

/** Checks the age of the served public list. */
export async function checkList(report: AreaReport, parts: DoctorDependencies): Promise<void> {
  const { list, sync } = parts.config.registry;
  const { length } = (await parts.registry()).chains;
  if (sync.urls.length > 0) return checkSync(report, parts);
  const made = list === undefined ? EMBEDDED_LIST.publishedAt : (await stat(list)).mtime;
  const days = Math.max(0, Math.floor((Date.now() - made.getTime()) / DAY_MS));
  const what = list === undefined ? 'the embedded list' : list;
  const age = `${what} is of ${made.toISOString().slice(0, 10)}, ${days} days old`;
  if (days <= OLD_LIST_DAYS) report.ok(`${length} chains; ${age}`);
  else report.warning('list_old', `The chain list is not updated: ${age}.`, SYNC);
}

async function checkSync(report: AreaReport, { config, store }: DoctorDependencies): Promise<void> {
  const { sync } = config.registry;
  const found = await store().catch(() => undefined);
  if (found === undefined || found.migrations.pending.length > 0) {
    report.unknown('The last synced list is in the database, which is not available now.');
    return;
  }
  const times = { everyMs: sync.everySeconds * 1000, retryMs: SYNC_RETRY_MS };
  const { failure, confirmedAt, heldBack } = await readSyncState(found.database, sync.urls, times);
  const confirmed = confirmedAt?.toISOString() ?? 'never';
  if (failure !== undefined) {
    report.warning(
      'list_stale',
      `No source has returned a newer list since ${failure.since.toISOString()} (${failure.code}): ${failure.message}`,
      'fullmatch chains sync --dry-run',
    );
  } else if (confirmedAt === undefined) report.ok('the list will be fetched at the next start');
  else report.ok(`the list was confirmed at ${confirmed}`);
  if (heldBack === undefined) return;
  report.warning(
    'list_records_held_back',
    `The records of the chains ${heldBack.chainIds.join(', ')} in the newest list are held back.`,
    `fullmatch chains sync --dry-run, then --accept ${heldBack.sha256} if the list is right`,
  );
}

/** Checks the clock against the release date, the database and the newest blocks. */
export async function checkClock(report: AreaReport, parts: DoctorDependencies): Promise<void> {
  const now = new Date();
  const fix = 'timedatectl set-ntp true, or another service that keeps the time';
  if (now < EMBEDDED_LIST.publishedAt) {
    const message = `It is ${now.toISOString()} here, before this version of Fullmatch was made.`;
    report.fault('clock_wrong', message, fix);
    return;
  }
  const ahead = (await parts.store().catch(() => undefined))?.clockAheadMs;
  if (ahead !== undefined && Math.abs(ahead) > CLOCK_TOLERANCE_MS) {
    const seconds = (Math.abs(ahead) / 1000).toFixed(0);
    const message = `The database is ${seconds} seconds ${ahead > 0 ? 'ahead of' : 'behind'} this machine: leases and ages are calculated incorrectly.`;
    report.warning('clock_wrong', message, fix);
  }
  const chains = await parts.health().catch(() => []);
  const early = chains.filter(({ endpoints }) =>
    endpoints.some(({ reasons }) => reasons.some(({ code }) => code === 'head_in_future')),
  );
  if (early.length > 0) {
    const ids = early.map(({ chainId }) => chainId).join(', ');
    const message = `The newest blocks of chains ${ids} are in the future by the clock of this machine.`;
    report.warning('clock_wrong', message, fix);
  }
  if (report.findings.length === 0)
    report.ok(`${now.toISOString()}, nothing suggests that it is wrong`);
}

/** Checks that the registry is valid, and that the endpoints of configured chains respond and belong to their chain. */
export async function checkChains(report: AreaReport, parts: DoctorDependencies): Promise<void> {
  const { findings } = await parts.registry();
  const { chains } = parts.config;
  for (const { level, code, chainId, message } of findings) {
    const fix = `chains.${chainId ?? '<id>'}, see fullmatch chains check`;
    if (level === 'error') report.fault(code, message, fix);
    else if (level === 'warning' && chainId !== undefined && chains.has(chainId)) {
      report.warning(code, message, fix);
    }
  }
  const health = await parts.health();
  for (const chain of health) reportChain(report, chain);
  if (health.length === 0) report.ok('no chain is configured, so no endpoints are probed');
}

function reportChain(report: AreaReport, { chainId, endpoints }: ChainHealthReport): void {
  const up = endpoints.filter(({ state }) => state === 'up').length;
  for (const endpoint of endpoints) {
    const text = describe(chainId, endpoint);
    const list = endpoint.label.startsWith('private-') ? 'privateRpc' : 'rpc';
    if (endpoint.state === 'wrong_chain') {
      report.fault(
        'wrong_chain',
        text,
        `chains.${chainId}.rpc or privateRpc: correct the endpoint`,
      );
    } else if (endpoint.state !== 'up' && endpoint.state !== 'not_probed') {
      const refused = endpoint.reasons.some(({ code }) => REFUSED.has(code));
      const fix = refused
        ? `the key in chains.${chainId}.privateRpc, or another endpoint`
        : `fullmatch chains probe ${chainId}, and another endpoint in chains.${chainId}.${list}`;
      // Contracts of the chain can be verified while another endpoint is up, or later if this one is only
      // rate limited.
      const passes = up > 0 || (endpoint.state === 'throttled' && !refused);
      if (passes) report.warning('endpoints_unhealthy', text, fix);
      else report.fault('endpoints_unhealthy', text, fix);
    }
  }
  if (endpoints.length > 0 && up === endpoints.length) {
    report.ok(`chain ${chainId}: ${up === 1 ? 'its endpoint is' : `all ${up} endpoints are`} up`);
  }
}

const STATES: Partial<Record<EndpointReport['state'], string>> = {
  wrong_chain: 'serves another chain',
  throttled: 'limits our requests',
};

function describe(chainId: number, { label, state, reasons }: EndpointReport): string {
  const why = reasons.map(({ code, detail }) => `${detail} (${code})`).join(' ');
  return `Endpoint ${label} of chain ${chainId} ${STATES[state] ?? `is ${state}`}. ${why}`.trimEnd();
}
