import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type * as DatabaseModule from '../src/store/database.ts';
import { Secret } from '../src/lib/secret.ts';
import { connectClient, targetOfUrl } from '../src/store/connection-target.ts';
import { type Kind, readDeclaredQueries } from './support/sql/declared-queries.ts';
import {
  describeStatement,
  kindOfColumn,
  kindsOfParameter,
  type StatementShape,
} from './support/sql/describe-statement.ts';
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from './support/test-database.ts';

const ALLIANCE_SCHEMA = path.resolve(import.meta.dirname, 'support/alliance-schema.sql');
const SOURCE = path.resolve(import.meta.dirname, '../src');
/** These run when they are loaded and contain no statement. */
const PROGRAMS = /(?:main|-process|-thread|-child)\.(?:ts|mjs)$/;
/** Statements that run outside prepared statements, or need tables created by a preceding statement. */
const UNPREPARED: ReadonlySet<string> = new Set([]);

const texts = vi.hoisted(() => new Map<string, string[]>());
vi.mock('../src/store/database.ts', async (original) => {
  const actual = await original<typeof DatabaseModule>();
  return {
    ...actual,
    sql: (label: string, text: string) => {
      texts.set(label, [...(texts.get(label) ?? []), text]);
      return actual.sql(label, text);
    },
  };
});

let testDatabase: TestDatabase;
let peerDatabase: Awaited<ReturnType<typeof createEmptyDatabase>>;
let client: Client;
/** Schema with the tables of the Verifier Alliance, which an import reads. */
let peer: Client;
let arrays: ReadonlySet<number>;
const shapes = new Map<string, StatementShape>();
const faults: string[] = [];

beforeAll(async () => {
  // Files of one worker share loaded modules: this is loaded again with the labels recorded.
  vi.resetModules();
  texts.clear();
  testDatabase = await createTestDatabase();
  client = await connectClient(targetOfUrl(new Secret(testDatabase.url), 'fullmatch test'));
  peerDatabase = await createEmptyDatabase();
  peer = await connectClient(targetOfUrl(new Secret(peerDatabase.url), 'fullmatch test'));
  await peer.query(readFileSync(ALLIANCE_SCHEMA, 'utf8'));
  // Additional tables in an export of Fullmatch.
  await peer.query(`CREATE TABLE fullmatch_matches (chain_id bigint, address bytea, verified_contract_id bigint,
    runtime_match text, creation_match text, claimed_creation_values jsonb)`);
  const { rows } = await client.query<{ oid: number }>(
    `SELECT oid::int4 FROM pg_type WHERE typcategory = 'A'`,
  );
  arrays = new Set(rows.map(({ oid }) => oid));
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !PROGRAMS.test(file),
  );
  for (const file of files) await import(path.join(SOURCE, file));
  const { STAGE_TABLES } = await import('../src/repository/bulk/contract-stage.ts');
  for (const table of STAGE_TABLES) await client.query(table);
  for (const label of ['import: create staging', 'import: create list of staged tables']) {
    await peer.query(texts.get(label)?.[0] ?? '');
  }
  for (const [label, [text = '']] of texts) {
    if (UNPREPARED.has(label)) continue;
    try {
      shapes.set(
        label,
        await describeStatement(label.startsWith('import: ') ? peer : client, text),
      );
    } catch (error) {
      faults.push(`${label}: ${String(error)}`);
    }
  }
}, 120_000);

afterAll(async () => {
  await Promise.all([client.end(), peer.end()]);
  await Promise.all([testDatabase.drop(), peerDatabase.drop()]);
});

test('every SQL statement of the program is valid for the schema', () => {
  expect(texts.size).toBeGreaterThan(100);
  expect(faults).toEqual([]);
});

test('no two statements share a label', () => {
  const doubles = [...texts].filter(([, each]) => each.length > 1).map(([label]) => label);
  expect(doubles).toEqual([]);
});

describe('declared types of statements', () => {
  const queries = readDeclaredQueries();
  const isFit = (declared: ReadonlySet<Kind>, found: ReadonlySet<Kind>): boolean =>
    [...declared].every((kind) => kind === 'any' || kind === 'null' || found.has(kind));

  test('are found for most statements', () => {
    const read = new Set(queries.map(({ label }) => label));
    // Statements over staged rows take their columns and types from one list, see carried-statement.ts.
    const listed = [...texts.keys()].filter(
      (label) => !label.startsWith('staged: ') && !texts.has(`staged: ${label}`),
    );
    expect(read.size).toBeGreaterThan(listed.length * 0.8);
  });

  test('equal the columns and types that the statement returns', () => {
    const wrong = queries.flatMap(({ place, label, columns }) => {
      const shape = shapes.get(label);
      if (shape === undefined || columns === undefined) return [];
      const missing = [...columns.keys()].filter((name) => !shape.columns.has(name));
      const others = [...shape.columns].flatMap(([name, oid]) => {
        const declared = columns.get(name);
        const kind = kindOfColumn(oid, arrays);
        if (declared === undefined) return [`${name} is not declared`];
        const fits = kind === 'any' || isFit(declared, new Set([kind]));
        return fits ? [] : [`${name} is ${kind}, not ${[...declared].join(' or ')}`];
      });
      const all = [...missing.map((name) => `${name} is not answered`), ...others];
      return all.map((fault) => `${place} "${label}": ${fault}`);
    });
    expect(wrong).toEqual([]);
  });

  test('equal the parameters and types that the statement takes', () => {
    const wrong = queries.flatMap(({ place, label, values }) => {
      const shape = shapes.get(label);
      if (shape === undefined || values === undefined) return [];
      const { parameters } = shape;
      if (parameters.length !== values.length) {
        return [`${place} "${label}": ${values.length} values for ${parameters.length}`];
      }
      return parameters.flatMap((oid, index) => {
        const declared = values[index] ?? new Set<Kind>();
        const taken = kindsOfParameter(oid, arrays);
        if (isFit(declared, taken)) return [];
        const names = [declared, taken].map((kinds) => [...kinds].join(' or '));
        return [`${place} "${label}": $${index + 1} is ${names[0]}, the schema takes ${names[1]}`];
      });
    });
    expect(wrong).toEqual([]);
  });
});
