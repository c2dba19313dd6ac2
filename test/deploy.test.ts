// The service files in deploy/: run where the tools are installed, otherwise checked against the
// configuration and the metrics.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../src/config/load-config.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { configSources } from './support/config-sources.ts';
import { startRpcServer, type RpcServer } from './support/rpc-server.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const readDeployed = (name: string): Promise<string> =>
  readFile(path.join(ROOT, 'deploy', name), 'utf8');
const has = (program: string): boolean => {
  const { error } = spawnSync(program, ['--version'], { stdio: 'ignore' });
  return error === undefined;
};
const run = promisify(execFile);
const PROMTOOL = path.join(ROOT, 'node_modules/.cache/fullmatch-promtool/promtool');
const ALERT_CASES = path.join(ROOT, 'test/fixtures/alerts.test.yaml');
interface AlertRules {
  readonly groups: readonly { readonly rules: readonly { alert: string; expr: string }[] }[];
}
/** Waiting time before the first test. */
const WAIT = { timeout: 60_000, interval: 50 } as const;

describe('the systemd unit', () => {
  test.skipIf(!has('systemd-analyze'))(
    'passes systemd-analyze (skipped where systemd-analyze is not installed)',
    async () => {
      const unit = path.join(ROOT, 'deploy', 'fullmatch.service');
      const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', unit]);
      expect((stdout + stderr).split('\n').filter((line) => line.includes('fullmatch'))).toEqual(
        [],
      );
    },
  );

  test('sets configuration variables and what the service needs', async () => {
    const unit = await readDeployed('fullmatch.service');
    const environment = Object.fromEntries(
      [...unit.matchAll(/^Environment=(FULLMATCH_[A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [
        name,
        value,
      ]),
    ) as Record<string, string>;
    const file = environment['FULLMATCH_CONFIG'] ?? '';
    const texts = { [file]: await readDeployed('fullmatch.yaml') };
    const { config } = loadConfig(configSources({ environment, texts }));
    expect(config.dataDir).toBe('/var/lib/fullmatch');
    // The service stops PostgreSQL, and half of the descriptors are for connections.
    for (const line of ['KillMode=mixed', 'LimitNOFILE=20000', 'OOMPolicy=continue'])
      expect(unit.split('\n')).toContain(line);
  });
});

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly build?: { readonly context: string; readonly dockerfile: string };
        readonly image?: string;
        readonly environment?: Readonly<Record<string, string>>;
        readonly ports?: readonly string[];
        readonly volumes?: readonly string[];
        readonly depends_on?: Readonly<Record<string, unknown>>;
        readonly healthcheck?: { readonly test: readonly string[] };
      }
    >
  >;
  readonly volumes: Readonly<Record<string, unknown>>;
}

describe('the compose files', () => {
  test.each(['compose.yaml', 'compose.scaled.yaml'])(
    '%s sets configuration variables and references existing files',
    async (name) => {
      const compose = parse(await readDeployed(name), { merge: true }) as Compose;
      const containerfile = await readDeployed('Containerfile');
      for (const { build, environment, ports, volumes, depends_on } of Object.values(
        compose.services,
      )) {
        for (const volume of volumes ?? [])
          expect(compose.volumes).toHaveProperty([volume.split(':')[0] ?? '']);
        for (const other of Object.keys(depends_on ?? {}))
          expect(compose.services).toHaveProperty([other]);
        if (build === undefined) continue;
        expect(build).toEqual({ context: '..', dockerfile: 'deploy/Containerfile' });
        const variables = Object.entries(environment ?? {}).map(
          ([key, value]) => [key, value.replaceAll(/\$\{[^}]*\}/g, 'secret')] as const,
        );
        const set = { ...environmentOf(containerfile), ...Object.fromEntries(variables) };
        const { config } = loadConfig(configSources({ environment: set }));
        const inside = [config.api.port, config.repository.port].map(String);
        for (const port of ports ?? []) expect(inside).toContain(port.split(':').at(-1));
      }
    },
  );

  test('assign jobs and chains to the workers, and HTTP to the hosts', async () => {
    const { services } = parse(await readDeployed('compose.scaled.yaml'), {
      merge: true,
    }) as Compose;
    const configOf = (service: string) => {
      const set = Object.entries(services[service]?.environment ?? {});
      const environment = Object.fromEntries(set.filter(([key]) => key !== 'DATABASE_URL'));
      return loadConfig(configSources({ environment })).config;
    };
    const [hosts, worker] = [configOf('hosts'), configOf('worker')];
    expect([hosts.verification.workers, hosts.monitor.enabled]).toEqual([0, false]);
    expect([hosts.api.enabled, hosts.repository.enabled]).toEqual([true, true]);
    expect([worker.host, worker.repository.enabled]).toEqual(['127.0.0.1', false]);
    expect(services['worker']?.ports).toBeUndefined();
    expect([worker.verification.workers > 0, worker.monitor.enabled]).toEqual([true, true]);
  });
});

/** Returns the variables set in a Containerfile. */
function environmentOf(containerfile: string): Record<string, string> {
  return Object.fromEntries(
    [...containerfile.matchAll(/\b(FULLMATCH_[A-Z_]+)=(\S+)/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  ) as Record<string, string>;
}

test('the Containerfile copies existing files and exposes the configured ports', async () => {
  const text = await readDeployed('Containerfile');
  const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) =>
    names.split(' '),
  );
  expect(copied.length).toBeGreaterThan(3);
  for (const name of copied) await readFile(path.join(ROOT, name)).catch(isFolder);
  const { config } = loadConfig(configSources({ environment: environmentOf(text) }));
  expect(text).toContain(`EXPOSE ${config.api.port} ${config.repository.port}`);
  expect(text).toContain(`VOLUME ${config.dataDir}`);
  expect(config.host).toBe('0.0.0.0');
});

function isFolder(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EISDIR') throw error;
}

describe('Prometheus and Grafana', () => {
  let database: TestDatabase;
  let service: BootedService;
  let node: RpcServer;
  /** Label names and values by series name; `undefined` for a metric without series yet. */
  const series = new Map<string, Map<string, Set<string>> | undefined>();
  beforeAll(async () => {
    database = await createTestDatabase();
    node = await startRpcServer({ eth_chainId: () => '0x7a69' });
    service = await bootService({
      databaseUrl: database.url,
      environment: { FULLMATCH_METRICS_ENABLED: 'true', FULLMATCH_METRICS_PORT: '0' },
      yaml: `chains: { 31337: { local: true, rpc: ["${node.url}"] } }`,
    });
    await fetch(`${service.apiUrl}/chains`);
    const read = async () => (await fetch(`${service.metricsUrl}/metrics`)).text();
    await vi.waitFor(async () => expect(await read()).toContain('fullmatch_endpoint_state{'), WAIT);
    readSeries(await read());
  });
  afterAll(async () => {
    await service.close();
    await node.close();
    await database.drop();
  });

  function readSeries(text: string): void {
    for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
      const ends = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      for (const end of ends) series.set(name + end, undefined);
    }
    for (const [, name = '', labels = ''] of text.matchAll(/^([a-z_0-9]+)(?:\{(.*)\})? \S+$/gm)) {
      const known = series.get(name) ?? new Map<string, Set<string>>();
      for (const [, label = '', value = ''] of labels.matchAll(/([a-z_]+)="([^"]*)"/g))
        known.set(label, (known.get(label) ?? new Set()).add(value));
      series.set(name, known);
    }
  }

  /** Labels added by Prometheus itself. */
  const GIVEN = new Set(['instance', 'job', 'le']);

  /** Checks the metrics in an expression against the exported ones and returns how many it names. */
  function checkExpression(expression: string): number {
    const named = [
      ...expression.matchAll(/\b((?:fullmatch|process|nodejs)_[a-z_0-9]+)(?:\{([^}]*)\})?/g),
    ];
    for (const [, name = '', selector = ''] of named) {
      expect([...series.keys()]).toContain(name);
      const labels = series.get(name);
      if (labels === undefined) continue;
      for (const [, label = '', operator, value = ''] of selector.matchAll(
        /([a-z_]+)(=~|!=|=)"([^"]*)"/g,
      )) {
        if (GIVEN.has(label)) continue;
        expect([...labels.keys()]).toContain(label);
        // The series of a status exists after the first response with it.
        if (operator === '=' && label !== 'status')
          expect([...labels.get(label)!]).toContain(value);
      }
      const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) =>
        names.split(', '),
      );
      if (labels.size > 0)
        for (const label of grouped.filter((each) => !GIVEN.has(each)))
          expect([...labels.keys()]).toContain(label);
    }
    return named.length;
  }

  test('the alerts use metrics and labels that the service exports', async () => {
    const { groups } = parse(await readDeployed('prometheus-alerts.yaml')) as AlertRules;
    const rules = groups.flatMap((group) => group.rules);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    expect(rules.length).toBeGreaterThan(10);
    for (const { alert, expr } of rules)
      expect(checkExpression(expr) + Number(alert === 'FullmatchDown')).toBeGreaterThan(0);
  });

  test.skipIf(!existsSync(PROMTOOL))(
    'the alerts fire for failures and not for a healthy service (skipped without promtool, see scripts/install-programs.sh)',
    async () => {
      const { stdout } = await run(PROMTOOL, ['test', 'rules', ALERT_CASES]);
      expect(stdout).toContain('SUCCESS');
    },
  );

  test('each alert has a case that makes it fire', async () => {
    const { groups } = parse(await readDeployed('prometheus-alerts.yaml')) as AlertRules;
    const cases = await readFile(ALERT_CASES, 'utf8');
    for (const { alert } of groups.flatMap(({ rules }) => rules))
      expect(cases).toContain(`alertname="${alert}"`);
  });

  test('the dashboard uses metrics and labels that the service exports', async () => {
    const { panels } = JSON.parse(await readDeployed('grafana-dashboard.json')) as {
      panels: readonly {
        id: number;
        type: string;
        targets?: readonly { expr: string }[];
        gridPos: { x: number; y: number; w: number; h: number };
      }[];
    };
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { type, targets = [], gridPos } of panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      expect(targets.length > 0).toBe(type !== 'row');
      for (const { expr } of targets) expect(checkExpression(expr)).toBeGreaterThan(0);
    }
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });

  test('an unknown metric or label is detected', () => {
    expect(() => checkExpression('fullmatch_readyy == 0')).toThrow();
    expect(() => checkExpression('fullmatch_chains{king="all"}')).toThrow();
    expect(() => checkExpression('sum by (king) (fullmatch_chains)')).toThrow();
  });
});

describe('Caddy', () => {
  test('proxies to the ports of the configuration, with balanced blocks', async () => {
    const text = await readDeployed('Caddyfile');
    const { config } = loadConfig(configSources({}));
    const places = [...text.matchAll(/import fullmatch_proxy (\S+)/g)].map(([, place]) => place);
    expect([...new Set(places)].sort()).toEqual(
      [config.repository.port, config.api.port].map((port) => `127.0.0.1:${port}`).sort(),
    );
    expect(text.split('{').length).toBe(text.split('}').length);
    expect(text).toContain(`handle ${config.api.prefix}/*`);
    for (const [, bytes] of text.matchAll(/max_size (\d+)/g))
      expect(Number(bytes)).toBe(config.verification.requestBytes);
  });
});
