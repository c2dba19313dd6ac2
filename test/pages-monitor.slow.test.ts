// Pages about the monitor of a chain.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { sql } from '../src/store/database.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { LOOKS, openTab, sidewaysScroll, takePicture, visit } from './support/browser.ts';
import { BROWSER, describeWith } from './support/needs.ts';
import { followed } from './support/followed.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const WATCHED = 424_242;
const QUIET = 515_151;
const FOUND = sampleAddress(0xf1_01);
const YAML = `
registry: { include: configured, defaults: false }
chains:
  ${WATCHED}: { name: Watched, local: true, rpc: ['http://127.0.0.1:9'], monitor: true }
  ${QUIET}: { name: Quiet, supported: false }
monitor: { enabled: false }
health: { enabled: false }
`;

/** Another process follows the chain; its records are in the database. */
const FILL = sql(
  'test fill monitor',
  `WITH cursor AS (
     INSERT INTO monitor_cursors (chain_id, start_block, number, hash, head, current_at, found, reorganisations, reorganised_to, reorganised_at)
     VALUES (${WATCHED}, 21000000, 22345650, decode(repeat('ab', 32), 'hex'), 22345678, now(), 1204321, 3, 22345000, now())
   ), untraced AS (
     INSERT INTO monitor_untraced_blocks VALUES (${WATCHED}, 21000010, 21000029)
   )
   INSERT INTO forgotten_creations (chain_id, state, reason, creations) VALUES
     (${WATCHED}, 'waiting', 'metadata_unavailable', 51234), (${WATCHED}, 'waiting', '', 7),
     (${WATCHED}, 'verified', 'known_code', 1100000), (${WATCHED}, 'verified', 'sources', 53000),
     (${WATCHED}, 'given_up', 'different_bytecode', 80)`,
);
const STOP = sql(
  'test stop monitor',
  `UPDATE monitor_cursors SET current_at = now() - interval '2 hours', failing_since = now() - interval '2 hours',
     fault_code = 'rpc_unreachable', fault_message = 'No endpoint can be read: node-1 <b>rests</b>.'`,
);

describeWith([BROWSER], 'the monitor on pages', () => {
  let testDatabase: TestDatabase;
  let service: BootedService;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    await testDatabase.database.query(FILL, []);
    const sample = sampleContract(
      WATCHED,
      FOUND,
      { runtimeMatch: 'full' },
      { origin: 'monitored' },
    );
    await saveMatches(testDatabase.database, [sample]);
    service = await bootService({ databaseUrl: testDatabase.url, yaml: YAML });
    await followed(service, testDatabase.database);
  });
  afterAll(async () => {
    await service.close();
    await testDatabase.drop();
  });

  const textOf = async (at: string): Promise<string> => {
    const tab = await openTab(LOOKS[0], { javaScriptEnabled: false });
    try {
      await tab.page.goto(`${service.apiUrl}${at}`);
      const text = await tab.page.locator('main').innerText();
      return text.replaceAll(/[\s\u00A0\u202F]+/g, ' ');
    } finally {
      await tab.context.close();
    }
  };
  const keepCurrent = () =>
    testDatabase.database.query(
      sql('test keep current', 'UPDATE monitor_cursors SET current_at = now()'),
    );

  test('shows its progress, its findings and its limits without scripts', async () => {
    await keepCurrent();
    await expect.poll(() => textOf(`/registry/${WATCHED}`)).toContain('Up to date');
    const text = await textOf(`/registry/${WATCHED}`);
    expect(text).toContain('Found 1,204,321');
    expect(text).toContain('Verified 1,153,000');
    expect(text).toContain('Waiting 51,241');
    expect(text).toContain('22,345,650 of 22,345,678, 28 behind');
    expect(text).toContain('20 blocks without traces');
    expect(text).toContain('contracts made by contracts are not seen there');
    expect(text).toContain(
      'waiting 51,234 no gateway has its metadata at the moment metadata_unavailable',
    );
    expect(text).toContain('given up 80 different_bytecode');
    expect(await textOf('/')).toContain('Monitor watches 1 chain for new contracts');
  });

  test('is not mentioned for a chain without one', async () => {
    expect(await textOf(`/registry/${QUIET}`)).not.toContain('Monitor');
  });

  test('labels the contracts that it found', async () => {
    expect(await textOf('/contracts')).toContain('found by the monitor');
    expect(await textOf(`/contract/${WATCHED}/${FOUND}?tab=proof`)).toContain(
      'Found by the monitor and verified here',
    );
  });

  test.each(LOOKS)('is readable and accessible: $name', async (look) => {
    await keepCurrent();
    const tab = await openTab(look);
    await visit(tab, `${service.apiUrl}/registry/${WATCHED}`);
    const section = tab.page.locator('section[aria-labelledby="monitor"]');
    await section.waitFor();
    expect(await sidewaysScroll(tab)).toBe(0);
    await takePicture(section, `monitor-${look.name}`);
    expect({ troubles: tab.troubles, foreign: tab.foreignRequests }).toEqual({
      ...{ troubles: [], foreign: [] },
    });
    await tab.context.close();
  });

  test('shows since when and why it stalls, here and on the overview', async () => {
    await testDatabase.database.query(STOP, []);
    await expect.poll(() => textOf(`/registry/${WATCHED}`)).toContain('No progress');
    expect(await textOf(`/registry/${WATCHED}`)).toContain('node-1 <b>rests</b>. rpc_unreachable');
    const overview = await textOf('/');
    expect(overview).toContain(`not progressing at ${WATCHED}`);
    expect(overview).toContain('New contracts are not found');
  });
});
