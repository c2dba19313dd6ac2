import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { startWebServer } from '../../../test/support/web-server.ts';
import { FullmatchError } from '../../errors.ts';
import { createGuardedFetch } from '../../lib/guarded-fetch.ts';
import { compareVersions, findVersion } from '../compiler-version.ts';
import { CompilerFinder } from '../sources/compiler-finder.ts';
import { readAnyBuildName, splitToolchain } from './all-toolchains.ts';
import { SOLC } from './solc.ts';
import { THIS_MACHINE } from './this-machine.ts';
import { VYPER } from './vyper.ts';

const { longVersions } = VYPER.catalogue;
const V310 = '0.3.10+commit.91361694';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'fullmatch-test-'));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function faultOf(work: Promise<unknown>): Promise<FullmatchError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof FullmatchError) return error;
  throw new Error('no FullmatchError');
}

describe('Vyper catalogue', () => {
  test('contains at least 51 builds from 0.1.0-beta.16 to 0.4.3 once, in release order', () => {
    expect(longVersions.length).toBeGreaterThan(50);
    expect(new Set(longVersions).size).toBe(longVersions.length);
    expect([...longVersions].sort(compareVersions)).toEqual(longVersions);
    expect(longVersions[0]).toBe('0.1.0-beta.16+commit.5e4a94ad');
    expect(longVersions.at(-1)).toBe('0.4.3+commit.bff19ea2');
    for (const version of longVersions) {
      expect(VYPER.catalogue.sha256Of(version, 'native')).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  test('names every file as published and parses the version back', () => {
    for (const version of longVersions) {
      const fileName = VYPER.names.fileNameOf(version, 'native');
      expect(readAnyBuildName(fileName)).toMatchObject({ longVersion: version, toolchain: VYPER });
      expect(decodeURIComponent(VYPER.names.pathOf(version, 'native'))).toMatch(
        new RegExp(`^v[^/]+/${fileName.replaceAll(/[.+]/g, '\\$&')}$`),
      );
    }
  });

  test.each([
    ['0.4.1-b1+commit.039d3692', 'v0.4.1b1/vyper.0.4.1b1%2Bcommit.039d3692.linux'],
    ['0.3.1+commit.0463ea4c', 'v0.3.1/vyper.0.3.1.linux'],
    ['0.3.0+commit.8a23febb', 'v0.3.0/vyper.0.3.0%2Bcommit.8a23feb.linux'],
    ['0.1.0-beta.17+commit.0671b7bb', 'v0.1.0-beta.17/vyper.0.1.0-beta.17%2Bcommit.0671b7b.linux'],
  ])('locates the file of %s at %s', (version, expected) => {
    expect(VYPER.names.pathOf(version, 'native')).toBe(expected);
  });
});

test.each([
  ['0.3.10', V310],
  ['v0.3.10+commit.91361694', V310],
  ['0.3.10+commit.9136169', V310],
  ['0.4.1b1', '0.4.1-b1+commit.039d3692'],
  ['0.4.1-b1', '0.4.1-b1+commit.039d3692'],
  ['0.4.1rc3+commit.1339177d', '0.4.1-rc3+commit.1339177d'],
  ['0.1.0b17', '0.1.0-beta.17+commit.0671b7bb'],
  ['0.4.1', '0.4.1+commit.8a93dd27'],
  ['0.4.1+commit.039d3692', undefined],
])('resolves %s to %s', (text, expected) => {
  expect(findVersion(text, longVersions)).toBe(expected);
});

test('parses a Vyper version on the command line in the format of explorers', () => {
  expect(splitToolchain('vyper:0.3.10')).toEqual({ toolchain: VYPER, version: '0.3.10' });
  expect(splitToolchain('0.8.30')).toEqual({ toolchain: SOLC, version: '0.8.30' });
});

describe.runIf(THIS_MACHINE === 'linux x64')('Vyper builds', () => {
  test('with a wrong checksum are rejected after download and leave no file', async () => {
    const asked: string[] = [];
    const server = await startWebServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(200).end('#!/bin/sh\n');
    });
    const fetch = createGuardedFetch({
      allowPrivate: [server.hostPort],
      ...{ maxBytes: 1000, deadlineMs: 20_000, maxRedirects: 3, userAgent: 'fullmatch-test' },
    });
    closers.push(server.close, () => fetch.close());
    const directory = path.join(await makeFolder(), 'downloads');
    const vyperDownload = { baseUrl: server.url, directory, fetch };
    const finder = new CompilerFinder({ packages: [], vyperDownload }, VYPER);
    const { code, message, forOperator } = await faultOf(finder.find('0.3.10'));
    expect(code).toBe('compiler_checksum_mismatch');
    expect(message).toContain('Vyper 0.3.10+commit.91361694');
    expect(message).not.toContain(server.hostPort);
    expect(forOperator).toContain('its SHA-256 is');
    // The catalogue has the checksum, so nothing else is requested: there is no list.
    expect(asked).toEqual(['/v0.3.10/vyper.0.3.10%2Bcommit.91361694.linux']);
    expect(await readdir(directory)).toEqual([]);
    expect((await finder.listUsable()).length).toBe(longVersions.length);
  });

  test("in the operator's folder are used only if listed there", async () => {
    const directory = await makeFolder();
    const text = '#!/bin/sh\n';
    const name = VYPER.names.fileNameOf(V310, 'native');
    await writeFile(path.join(directory, name), text);
    await chmod(path.join(directory, name), 0o755);
    const finder = new CompilerFinder({ directory, packages: [] }, VYPER);
    expect((await faultOf(finder.find(V310))).code).toBe('unsupported_compiler_version');
    const sha256 = createHash('sha256').update(text).digest('hex');
    const list = { builds: [{ path: name, longVersion: V310, sha256 }] };
    await writeFile(path.join(directory, 'list.json'), JSON.stringify(list));
    expect(await finder.find('0.3.10')).toMatchObject({
      ...{ compiler: 'vyper', longVersion: V310, kind: 'native', pinned: false, listed: true },
    });
    // Solidity's finder ignores them.
    expect(await new CompilerFinder({ directory, packages: [] }).listUsable()).toEqual([]);
    const missing = await faultOf(finder.find('0.4.0'));
    expect(missing.message).toContain('Nearest that are: 0.3.10');
    expect((await faultOf(finder.find('0.9.1'))).message).toContain('Vyper');
  });
});
