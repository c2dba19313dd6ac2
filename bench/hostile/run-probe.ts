// Runs as a separate process during a load: `run-probe.ts <context as JSON> <contracts as JSON>`. It requests
// two documents at fixed times and verifies a small contract each second; at SIGTERM it prints its
// measurements.
import os from 'node:os';
import { postJson, shoot, sleep } from './client.ts';
import {
  BARE_ROUTE,
  PROXY_ADDRESS,
  type HostileContext,
  type ProbeReport,
  type ProbeWork,
} from './context.ts';

const EVERY_MS = 40;
const POLL_MS = 40;
const SUBMISSION_EVERY_MS = 1_000;
/** The probe is a client behind the trusted proxy, next to possibly hostile ones. */
const CLIENT = { from: PROXY_ADDRESS, headers: { 'x-forwarded-for': '198.51.100.77' } };

const context = JSON.parse(process.argv[2] ?? '') as HostileContext;
const { apiPort: port, barePort, chainId, verified } = context;
const work = JSON.parse(process.argv[3] ?? '') as ProbeWork;
const routes: Record<string, { times: number[]; statuses: Record<string, number> }> = {};
const matched: string[] = [];
const jobs: string[] = [];
const state = { ending: false, begun: 0 };

function record(route: string, begun: number, status: string): void {
  const entry = (routes[route] ??= { times: [], statuses: {} });
  entry.times.push(performance.now() - begun);
  entry.statuses[status] = (entry.statuses[status] ?? 0) + 1;
}

/** Requests without a response yet: route and time. */
const pending = new Set<readonly [route: string, begun: number]>();

async function ask(route: string, path: string, at = port): Promise<void> {
  const entry = [route, performance.now()] as const;
  pending.add(entry);
  const { status } = await shoot({ port: at, path, ...CLIENT });
  pending.delete(entry);
  record(...entry, status);
}

async function verify(address: string): Promise<void> {
  const begun = performance.now();
  const path = `/v2/verify/${chainId}/${address}`;
  const answer = await postJson({ port, path, ...CLIENT }, work.body);
  record('submit', begun, answer.status);
  if (answer.status !== '202') return;
  const { verificationId } = JSON.parse(answer.text) as { verificationId: string };
  jobs.push(verificationId);
  for (;;) {
    const { status, text } = await shoot({ port, path: `/v1/jobs/${verificationId}`, ...CLIENT });
    const job = status === '200' ? (JSON.parse(text) as { state: string }) : { state: status };
    if (job.state === 'succeeded') {
      matched.push(address);
      record('verify', begun, 'matched');
      return;
    }
    if (job.state === 'failed' || state.ending) {
      record('verify', begun, job.state);
      return;
    }
    await sleep(POLL_MS);
  }
}

const running = new Set<Promise<void>>();
function start(task: Promise<void>): void {
  running.add(task);
  void task.finally(() => running.delete(task));
}

try {
  os.setPriority(-5);
} catch {
  // Requires root; otherwise the figures are slightly noisier.
}
const timers = [
  setInterval(() => start(ask('GET /chains', '/chains')), EVERY_MS),
  setInterval(
    () => start(ask('GET /v2/contract', `/v2/contract/${chainId}/${verified}`)),
    EVERY_MS,
  ),
  setInterval(() => start(ask(BARE_ROUTE, '/', barePort)), EVERY_MS),
  setInterval(() => {
    const address = work.addresses[state.begun];
    state.begun += 1;
    if (address !== undefined) start(verify(address));
  }, SUBMISSION_EVERY_MS),
];

/** Waits for pending requests, since late responses matter most, but not for ever. */
const LAST_WAIT_MS = 30_000;

process.once('SIGTERM', () => {
  for (const timer of timers) clearInterval(timer);
  state.ending = true;
  void Promise.race([Promise.all(running), sleep(LAST_WAIT_MS)]).then(() => {
    for (const entry of pending) record(...entry, 'unanswered');
    const report: ProbeReport = { routes, matched, jobs };
    process.stdout.write(JSON.stringify(report), () => process.exit());
  });
});
process.stderr.write('probing\n');
