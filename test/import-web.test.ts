// `fullmatch import --from https://…`: another Fullmatch through its feed, and Parquet exports on a web
// server.
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ImportSummary } from '../src/importer/import-tally.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { withdrawMatch } from '../src/repository/matches/withdraw-match.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { readStatistics, renderStatistics } from '../src/repository/statistics/statistics.ts';
import { sql } from '../src/store/database.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { followed } from './support/followed.ts';
import { roundTripContracts } from './support/round-trip-contracts.ts';
import { runInProcess, type CliRun } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { startWebServer, type WebServer } from './support/web-server.ts';

const READ_TRUST = sql(
  'test trust',
  `SELECT trust, source, count(*)::int AS count FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id GROUP BY 1, 2 ORDER BY 1, 2`,
);

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let source: TestDatabase;
let instance: BootedService;
const at = (...names: readonly string[]): string => path.join(folder.path, ...names);

beforeAll(async () => {
  [folder, source] = await Promise.all([createTemporaryFolder(), createTestDatabase()]);
  await saveMatches(source.database, await roundTripContracts());
  instance = await bootService({ databaseUrl: source.url });
  await followed(instance, source.database);
  await json(source, 'export', 'tree');
  await json(source, 'export', 'parquet', '--format', 'parquet');
});
afterAll(async () => {
  await instance.close();
  await source.drop();
  await folder.remove();
});

const fullmatch = (database: TestDatabase, ...args: readonly string[]): Promise<CliRun> =>
  runInProcess(args, {
    environment: {
      DATABASE_URL: database.url,
      FULLMATCH_REGISTRY_INCLUDE: 'configured',
      FULLMATCH_DATA_DIR: at('data'),
    },
    workingDirectory: folder.path,
  });

async function json(database: TestDatabase, ...args: readonly string[]): Promise<unknown> {
  const run = await fullmatch(database, ...args, '--json');
  expect(run.exitCode, run.stdout + run.stderr).toBe(0);
  return JSON.parse(run.stdout);
}

const importFrom = async (
  database: TestDatabase,
  ...args: readonly string[]
): Promise<ImportSummary> => (await json(database, 'import', ...args)) as ImportSummary;

async function errorOf(database: TestDatabase, ...args: readonly string[]): Promise<unknown> {
  const { exitCode, stdout } = await fullmatch(database, 'import', ...args, '--json');
  return { exitCode, ...(JSON.parse(stdout) as object) };
}

async function withTarget<T>(work: (target: TestDatabase) => Promise<T>): Promise<T> {
  const target = await createTestDatabase();
  try {
    return await work(target);
  } finally {
    await target.drop();
  }
}

/** Returns every file of an exported tree by its path. */
async function filesBelow(name: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(at(name), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && !['export.json', 'manifest.json'].includes(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
  const pairs = files.map(
    async (file) => [path.relative(at(name), file), await readFile(file, 'utf8')] as const,
  );
  return Object.fromEntries(await Promise.all(pairs));
}

const statisticsOf = async ({ database }: TestDatabase): Promise<string> =>
  renderStatistics(await readStatistics(database)).toString('utf8');

/** Expects a database to have the tree and the counts of the source. */
async function expectSame(target: TestDatabase, name: string): Promise<void> {
  expect(await statisticsOf(target)).toBe(await statisticsOf(source));
  await json(target, 'export', name);
  expect(await filesBelow(name)).toEqual(await filesBelow('tree'));
}

describe('another Fullmatch instance', () => {
  test('is imported with the same counts, files and matches, as far as its bytecode proves them', () =>
    withTarget(async (target) => {
      const named = ['--from', instance.apiUrl, '--source-name', 'peer.example'];
      expect(await importFrom(target, ...named)).toMatchObject({
        totals: { stored: 7, refused: 0 },
      });
      await expectSame(target, 'from-instance');
      const trusts = await target.database.query<{ trust: string; count: number }>(READ_TRUST);
      expect(trusts).toEqual([
        { trust: 'claimed', source: 'peer.example', count: 1 },
        { trust: 'rechecked', source: 'peer.example', count: 6 },
      ]);
    }));

  test('is trusted only if its sources compile here to the delivered bytecode', () =>
    withTarget(async (target) => {
      const imported = await json(target, 'import', '--from', instance.apiUrl, '--recompile');
      expect(imported).toMatchObject({ checked: { recompiled: 4, not_checked: 3 } });
      const trusts = await target.database.query<{ trust: string; count: number }>(READ_TRUST);
      expect(trusts.map(({ trust, count }) => [trust, count])).toEqual([
        ['claimed', 1],
        ['rechecked', 2],
        ['recompiled', 4],
      ]);
      const left = await fullmatch(target, 'reverify', '--all', '--recompile', '--json');
      expect(left.exitCode).toBe(75);
      const reasons = (JSON.parse(left.stdout) as { reason: string }[]).map(({ reason }) => reason);
      expect(reasons.sort()).toEqual([
        ...['no_delivered_code', 'unsupported_compiler_version', 'unsupported_setting'],
      ]);
      expect(await statisticsOf(target)).toBe(await statisticsOf(source));
      expect((await recount(target.database, { repair: false })).differences).toEqual([]);
    }));

  test('keeps its match, and is reported, if its sources compile to other bytecode', () =>
    withTarget(async (target) => {
      await importFrom(target, '--from', instance.apiUrl);
      const change = sql(
        'test other code',
        `UPDATE contract_deployments SET claimed_contract_id = (
           SELECT other.claimed_contract_id FROM contract_deployments AS other
           JOIN contracts ON contracts.id = other.claimed_contract_id
           WHERE other.claimed_contract_id <> contract_deployments.claimed_contract_id LIMIT 1)
         WHERE claimed_contract_id IS NOT NULL`,
      );
      await target.database.query(change);
      const run = await fullmatch(target, 'reverify', '--all', '--recompile', '--json');
      expect(run.exitCode).toBe(6);
      const outcomes = JSON.parse(run.stdout) as { outcome: string }[];
      expect(outcomes.filter(({ outcome }) => outcome === 'differs').length).toBeGreaterThan(0);
      expect(await statisticsOf(target)).toBe(await statisticsOf(source));
    }));

  test('is resumed where the last import ended; its withdrawals are kept here and reported', async () => {
    const peer = await createTestDatabase();
    const [first, second] = (await roundTripContracts()).filter(
      ({ runtimeMatch }) => runtimeMatch === 'full',
    );
    await saveMatches(peer.database, [first!]);
    const service = await bootService({ databaseUrl: peer.url });
    try {
      await withTarget(async (target) => {
        await followed(service, peer.database);
        const load = (...more: readonly string[]): Promise<ImportSummary> =>
          importFrom(target, '--from', service.apiUrl, ...more);
        expect((await load('--dry-run')).totals).toMatchObject({ stored: 1 });
        expect((await load()).totals).toMatchObject({ stored: 1, unchanged: 0 });
        expect((await load()).totals).toMatchObject({ stored: 0, unchanged: 0 });
        await saveMatches(peer.database, [second!]);
        await withdrawMatch(peer.database, {
          ...{ chainId: first!.chainId, address: first!.address, reason: 'a test' },
        });
        await followed(service, peer.database);
        expect(await load()).toMatchObject({
          totals: { stored: 1, unchanged: 0, refused: 1 },
          refused: [{ reason: 'withdrawn_there' }],
        });
        expect(await statisticsOf(target)).toBe('{"1":{"full_match":2,"partial_match":0}}');
        expect((await load('--whole')).totals).toMatchObject({ stored: 0, refused: 1 });
      });
    } finally {
      await service.close();
      await peer.drop();
    }
  });

  test('is rejected if its feed lacks the position of the last import', () =>
    withTarget(async (target) => {
      await importFrom(target, '--from', instance.apiUrl);
      const other = sql('test other feed', `UPDATE import_cursors SET cursor = '1-other'`);
      await target.database.query(other);
      expect(await errorOf(target, '--from', instance.apiUrl)).toMatchObject({
        ...{ exitCode: 1, code: 'feed_position_unknown' },
      });
      const whole = await importFrom(target, '--from', instance.apiUrl, '--whole');
      expect(whole.totals).toMatchObject({ stored: 0, refused: 0 });
    }));

  test('that changes its data is rejected contract by contract', async () => {
    const proxy = await startWebServer((request, response) => {
      void fetch(`${instance.apiUrl}${request.url}`).then(async (answer) => {
        const text = await answer.text();
        response.writeHead(answer.status, {
          'content-type': answer.headers.get('content-type') ?? '',
        });
        // Each contract gets a different source from the compiled one.
        response.end(
          request.url?.startsWith('/v2/contract/') === true
            ? text.replaceAll('pragma solidity', 'pragma  solidity')
            : text,
        );
      });
    });
    try {
      await withTarget(async (target) => {
        const { totals, refusedByReason } = await importFrom(target, '--from', proxy.url);
        expect(totals).toMatchObject({ stored: 2, refused: 5 });
        expect(refusedByReason).toEqual({ wrong_source_hash: 5 });
      });
    } finally {
      await proxy.close();
    }
  });
});

describe('a misbehaving source', () => {
  const event = { kind: 'stored', chainId: 1, address: `0x${'1'.repeat(40)}`, match: 'full' };
  const pageOf = (page: object): string => JSON.stringify(page);

  test('ends the import if its feed does not advance', async () => {
    const server = await startWebServer((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(pageOf({ results: [], next: '1-a', hasMore: true }));
    });
    try {
      await withTarget(async (target) => {
        expect(await errorOf(target, '--from', server.url)).toMatchObject({
          ...{ exitCode: 75, code: 'import_source_unavailable' },
        });
      });
    } finally {
      await server.close();
    }
  });

  test.each([
    ['is not a record', 200, '{}', 'broken_row'],
    [
      'has 100,000 levels of JSON',
      ...([200, `{"abi": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'broken_row'] as const),
    ],
    ['is too large for the source to render', 422, '{}', 'file_too_large'],
  ])(
    'whose record %s is rejected for that contract, and the import continues',
    async (_what, status, record, reason) => {
      let most = 0;
      let open = 0;
      const events = Array.from({ length: 40 }, (_, index) => ({
        ...event,
        address: `0x${String(index).padStart(40, '0')}`,
      }));
      const server = await startWebServer((request, response) => {
        most = Math.max(most, (open += 1));
        response.on('close', () => (open -= 1));
        response.setHeader('content-type', 'application/json');
        const isFeed = request.url?.startsWith('/v1/feed') === true;
        response.statusCode = isFeed ? 200 : status;
        response.end(isFeed ? pageOf({ results: events, next: '1-a', hasMore: false }) : record);
      });
      try {
        await withTarget(async (target) => {
          const { totals, refusedByReason } = await importFrom(target, '--from', server.url);
          expect(totals).toMatchObject({ stored: 0, refused: 40 });
          expect(refusedByReason).toEqual({ [reason]: 40 });
          expect(most).toBeLessThanOrEqual(6);
        });
      } finally {
        await server.close();
      }
    },
  );
});

/** Serves a folder: its files by path, or a bucket listing if there is no manifest. */
async function serveFolder(
  root: string,
  {
    hasManifest,
    damage = (_: string, bytes: Buffer) => bytes,
  }: { hasManifest: boolean; damage?: (name: string, bytes: Buffer) => Buffer },
): Promise<WebServer & { readonly paths: string[] }> {
  const paths: string[] = [];
  const listing = async (marker: string): Promise<string> => {
    const entries = await readdir(path.join(root, 'v2'), { recursive: true, withFileTypes: true });
    const names = entries
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('fullmatch_'))
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
      .sort();
    const later = names.filter((name) => name > marker);
    const contents = await Promise.all(
      later.slice(0, 3).map(async (name) => {
        const bytes = await readFile(path.join(root, name));
        const md5 = createHash('md5').update(bytes).digest('hex');
        return `<Contents><Key>${name}</Key><Size>${bytes.length}</Size><ETag>"${md5}"</ETag></Contents>`;
      }),
    );
    return `<?xml version='1.0'?><ListBucketResult xmlns='http://doc.s3.amazonaws.com/2006-03-01'><IsTruncated>${later.length > 3}</IsTruncated>${contents.join('')}</ListBucketResult>`;
  };
  const server = await startWebServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://server');
    paths.push(url.pathname);
    const answer = async (): Promise<void> => {
      if (url.pathname === '/' && !hasManifest) {
        response.setHeader('content-type', 'application/xml');
        response.end(await listing(url.searchParams.get('marker') ?? ''));
        return;
      }
      const file = path.join(root, url.pathname);
      const isFile = await stat(file).then(
        (found) => found.isFile(),
        () => false,
      );
      const isHidden = url.pathname === '/manifest.json' && !hasManifest;
      if (!isFile || isHidden) return void response.writeHead(404).end();
      response.end(damage(url.pathname, await readFile(file)));
    };
    answer().catch((error: unknown) => response.destroy(error as Error));
  });
  return { ...server, paths };
}

describe('a Parquet export on a web server', () => {
  test.each([
    ['with the manifest of Fullmatch', true],
    ['as the listing of a bucket', false],
  ])('%s is downloaded, validated and imported', async (name, hasManifest) => {
    const server = await serveFolder(at('parquet'), { hasManifest });
    try {
      await withTarget(async (target) => {
        const { totals } = await importFrom(target, '--from', server.url);
        expect(totals).toMatchObject({ stored: 7, refused: 0 });
        expect(await statisticsOf(target)).toBe(await statisticsOf(source));
        if (hasManifest) await expectSame(target, name.replaceAll(' ', '-'));
        expect(await readdir(at('data', 'downloads'))).toEqual([]);
      });
    } finally {
      await server.close();
    }
  });

  test('ends the import on a file that differs from the listing; the next run downloads only the rest', async () => {
    const isCode = (name: string): boolean => name.startsWith('/v2/code/');
    let isDamaged = true;
    const server = await serveFolder(at('parquet'), {
      hasManifest: true,
      damage: (name, bytes) =>
        isDamaged && isCode(name)
          ? Buffer.concat([bytes.subarray(1), bytes.subarray(0, 1)])
          : bytes,
    });
    try {
      await withTarget(async (target) => {
        expect(await errorOf(target, '--from', server.url)).toMatchObject({
          ...{ exitCode: 75, code: 'import_source_unavailable' },
          path: expect.stringContaining('v2/code/') as unknown,
        });
        expect(await statisticsOf(target)).toBe('{}');
        const first = server.paths.splice(0);
        isDamaged = false;
        expect((await importFrom(target, '--from', server.url)).totals.stored).toBe(7);
        const again = server.paths.filter(
          (each) => first.includes(each) && each.endsWith('.parquet'),
        );
        expect(again.some(isCode)).toBe(true);
        expect(again.length).toBeLessThan(first.filter((each) => each.endsWith('.parquet')).length);
      });
    } finally {
      await server.close();
    }
  });

  test('is rejected if it is neither a Fullmatch nor an export, or its URL has a password', async () => {
    const server = await startWebServer((_, response) => response.end('hello'));
    try {
      await withTarget(async (target) => {
        expect(await errorOf(target, '--from', server.url)).toMatchObject({
          ...{ exitCode: 1, code: 'import_path_unusable' },
        });
        const secret = await fullmatch(target, 'import', '--from', 'https://me:secret@example.org');
        expect(secret).toMatchObject({ exitCode: 1, stdout: '' });
        expect(secret.stderr).toContain('error[import_path_unusable]');
        expect(secret.stderr).not.toContain('secret');
      });
    } finally {
      await server.close();
    }
  });
});

describe('GET /v1/feed', () => {
  const read = async (query = ''): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await fetch(`${instance.apiUrl}/v1/feed${query}`);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  test('returns every change of a match once, oldest first, and continues after the last one', async () => {
    const { status, body } = await read();
    expect(status).toBe(200);
    expect(body['hasMore']).toBe(false);
    const results = body['results'] as { eventNumber: string; kind: string }[];
    expect(results.map(({ kind }) => kind)).toEqual(Array(7).fill('stored'));
    const numbers = results.map(({ eventNumber }) => Number(eventNumber));
    expect(numbers).toEqual([...numbers].sort((left, right) => left - right));
    const later = await read(`?after=${String(body['next'])}`);
    expect(later.body).toEqual({ results: [], next: body['next'], hasMore: false });
  });

  test.each([
    ['?after=1', 400, 'invalid_parameter'],
    ['?after=0-abc', 400, 'invalid_parameter'],
    ['?after=1-abc', 410, 'feed_position_unknown'],
    ['?after=999-abc', 410, 'feed_position_unknown'],
  ])('rejects %s', async (query, status, code) => {
    expect(await read(query)).toMatchObject({ status, body: { code } });
  });
});
