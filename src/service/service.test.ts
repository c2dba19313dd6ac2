import { afterAll, beforeAll, expect, test } from 'vitest';
import { configSources } from '../../test/support/config-sources.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import { type LoadedConfig } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { silentLogger } from '../log.ts';
import { createService } from './service.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

/** Returns the configuration of a process that runs jobs but serves no host. */
function workersOnly(): LoadedConfig {
  const environment = {
    DATABASE_URL: testDatabase.url,
    FULLMATCH_METRICS_ENABLED: 'true',
    FULLMATCH_METRICS_PORT: '0',
  };
  const { config, ...loaded } = loadConfig(configSources({ environment }));
  const api = { ...config.api, enabled: false };
  const repository = { ...config.repository, enabled: false };
  return { ...loaded, config: { ...config, api, repository } };
}

test('runs without hosts and skips what only hosts need', async () => {
  const service = createService(workersOnly(), { log: silentLogger });
  try {
    const { metricsUrl, ...hosts } = await service.start();
    expect(hosts).toEqual({});
    const text = await (await fetch(`${metricsUrl ?? ''}/metrics`)).text();
    expect(text).toContain('fullmatch_ready 1');
    expect(text).toContain('fullmatch_database_up 1');
    expect(text).not.toContain('fullmatch_snapshot');
    expect(text).not.toContain('fullmatch_record');
  } finally {
    await service.close();
  }
});
