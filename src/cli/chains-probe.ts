import { type Command } from 'commander';
import { findChain } from '../chains/registry/chain-reference.ts';
import { findWatchedChains, probeChains } from '../chains/health/chain-health.ts';
import { type ChainHealthReport, type EndpointReport } from '../chains/health/health-report.ts';
import { createRpcClient } from '../chains/rpc/rpc-client.ts';
import { FullmatchError } from '../errors.ts';
import { writeJson, writeLine, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { renderTable } from './table.ts';
import { withCore } from './with-core.ts';
import { countOf } from '../lib/count-of.ts';

/** Short, since a person is waiting. */
const DEADLINE_MS = 5000;

/**
 * `fullmatch chains probe`: probes endpoints right away from this process, and prints their state. Exits 0 if
 * all are up, 1 if one belongs to another chain, else 75.
 */
export function defineChainsProbe(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('[chain]', 'Chain id, CAIP-2 id, short name or name: 1, 0x1, eip155:1, eth.')
    .option('--json', 'Print JSON.')
    .action(async (ref: string | undefined, options: ParsedOptions) => {
      const reports = await probe(ref, options, context);
      if (options['json']) writeJson(context.stdout, reports);
      else if (reports.length === 0) writeLine(context.stdout, 'no chain is configured');
      else context.stdout.write(probedText(reports));
      refuseUnhealthy(reports);
    });
}

function probe(
  ref: string | undefined,
  options: ParsedOptions,
  context: CliContext,
): Promise<readonly ChainHealthReport[]> {
  return withCore(options, context, 'chains', async (core) => {
    const { registry, inputs } = await core.registry();
    const chosen =
      ref === undefined
        ? findWatchedChains({ registry: () => registry, inputs: () => inputs })
        : [findChain(registry, ref)];
    const { fetch } = await core.chains();
    return probeChains(createRpcClient({ fetch }), chosen, {
      deadlineMs: DEADLINE_MS,
      signal: context.signal,
    });
  });
}

/** Fails if endpoints are not up, naming their chain; endpoints that are not probed do not count. */
function refuseUnhealthy(reports: readonly ChainHealthReport[]): void {
  const probed = reports.flatMap(({ chainId, endpoints }) =>
    endpoints
      .filter(({ state }) => state !== 'up' && state !== 'not_probed')
      .map(({ label, state }) => ({ chainId, endpoint: label, state })),
  );
  const wrong = probed.filter(({ state }) => state === 'wrong_chain');
  if (wrong.length > 0) {
    throw new FullmatchError(
      'wrong_chain',
      `${countOf(wrong.length, 'endpoint')} of another chain; correct the configuration.`,
      { details: { endpoints: wrong } },
    );
  }
  if (probed.length === 0) return;
  throw new FullmatchError(
    'endpoints_unhealthy',
    `Not up: ${countOf(probed.length, 'endpoint')}; see the reasons above.`,
    { details: { endpoints: probed } },
  );
}

function probedText(reports: readonly ChainHealthReport[]): string {
  const heads = ['chain', 'endpoint', 'state', 'block', 'lag', 'p50 ms', 'archive', 'trace'];
  const rows = reports.flatMap((report) =>
    report.endpoints.length === 0
      ? [[String(report.chainId), '-', report.state, '-', '-', '-', '-', '-', reasonText(report)]]
      : report.endpoints.map((endpoint) => endpointRow(report.chainId, endpoint)),
  );
  return renderTable([...heads, 'reason'], rows);
}

function endpointRow(chainId: number, endpoint: EndpointReport): string[] {
  const { label, state, head, lagBlocks, latency, archive, trace } = endpoint;
  return [
    String(chainId),
    label,
    state,
    head === undefined ? '-' : String(head.number),
    lagBlocks === undefined ? '-' : String(lagBlocks),
    latency === undefined ? '-' : String(latency.p50Ms),
    archive,
    trace,
    reasonText(endpoint),
  ];
}

function reasonText({ reasons }: Pick<EndpointReport, 'reasons'>): string {
  if (reasons.length === 0) return '-';
  return reasons.map(({ code, detail }) => `${code}: ${detail}`).join(' ');
}
