import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { solcPackageOf } from '../../../test/support/solc-packages.ts';
import { createTemporaryFolder } from '../../../test/support/temporary-folder.ts';
import { startWebServer, type WebServer } from '../../../test/support/web-server.ts';
import { FullmatchError } from '../../errors.ts';
import { createGuardedFetch } from '../../lib/guarded-fetch.ts';
import { CompilerFinder } from './compiler-finder.ts';
import { type DownloadOptions } from './download-source.ts';
import { SOLC_NAMES } from '../toolchains/solc-names.ts';
import { THIS_MACHINE } from '../toolchains/this-machine.ts';
import { VYPER } from '../toolchains/vyper.ts';
import { fetchCompiler, listCompilers, verifyCompilers } from '../inspect-compilers.ts';

const OLD = '0.4.18+commit.9cf6e910';
const INSTALLED = '0.8.37+commit.f401782d';
/** A version that is not in the catalogue. */
const STRANGE = '0.9.0+commit.0badc0de';
const NIGHTLY = '0.8.38-nightly.2026.9.25+commit.a31bd568';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function makeFolder(): Promise<string> {
  const folder = await createTemporaryFolder();
  closers.push(folder.remove);
  return folder.path;
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'found';
  } catch (error) {
    if (error instanceof FullmatchError) return error.code;
    throw error;
  }
}

function sha256(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}

const realSoljson = path.join(solcPackageOf(OLD), 'soljson.js');

/** Builds a list.json for files with the given contents. */
function listOf(files: Readonly<Record<string, string>>): string {
  const builds = Object.entries(files).map(([name, text]) => ({
    path: name,
    longVersion: SOLC_NAMES.readFileName(name, 'linux x64')?.longVersion,
    sha256: `0x${sha256(text)}`,
  }));
  return JSON.stringify({ builds });
}

describe('Local folder', () => {
  test('provides a file known to the catalogue', async () => {
    const directory = await makeFolder();
    await copyFile(realSoljson, path.join(directory, `soljson-v${OLD}.js`));
    const file = await new CompilerFinder({ directory }).find('v0.4.18');
    expect(file).toMatchObject({
      longVersion: OLD,
      kind: 'soljson',
      source: 'directory',
      listed: true,
    });
  });

  test('rejects a modified file and falls back to the next source', async () => {
    const directory = await makeFolder();
    await writeFile(path.join(directory, `soljson-v${OLD}.js`), 'changed');
    expect(await codeOf(new CompilerFinder({ directory, packages: [] }).find(OLD))).toBe(
      'compiler_checksum_mismatch',
    );
    const packages = [solcPackageOf(OLD)];
    expect((await new CompilerFinder({ directory, packages }).find(OLD)).source).toBe('package');
  });

  test('uses files named by its list.json, and no unlisted ones', async () => {
    const directory = await makeFolder();
    const names = [`soljson-v${STRANGE}.js`, `soljson-v${NIGHTLY}.js`];
    for (const name of names) await writeFile(path.join(directory, name), name);
    const find = (version: string): Promise<unknown> =>
      new CompilerFinder({ directory, packages: [] }).find(version);
    expect(await codeOf(find('0.9.0'))).toBe('unsupported_compiler_version');
    await writeFile(
      path.join(directory, 'list.json'),
      listOf(Object.fromEntries(names.map((name) => [name, name]))),
    );
    expect(await find('0.9.0')).toMatchObject({ longVersion: STRANGE, listed: true });
    expect(await find(`v${NIGHTLY}`)).toMatchObject({ longVersion: NIGHTLY, listed: true });
    await writeFile(path.join(directory, names[0] ?? ''), 'changed');
    expect(await codeOf(find('0.9.0'))).toBe('compiler_checksum_mismatch');
  });

  test('prefers a native build for this machine if it is executable and listed', async () => {
    const directory = await makeFolder();
    const machine = process.arch === 'arm64' ? 'arm64' : 'amd64';
    const native = `solc-linux-${machine}-v${OLD}`;
    await copyFile(realSoljson, path.join(directory, `soljson-v${OLD}.js`));
    await writeFile(path.join(directory, native), '#!/bin/sh\n');
    const finder = new CompilerFinder({ directory, packages: [] });
    expect((await finder.find(OLD)).kind).toBe('soljson');
    await chmod(path.join(directory, native), 0o755);
    expect((await finder.find(OLD)).kind).toBe('soljson');
    await writeFile(path.join(directory, 'list.json'), listOf({ [native]: '#!/bin/sh\n' }));
    if (process.platform === 'linux') expect((await finder.find(OLD)).kind).toBe('native');
  });

  test.each([
    ['soljson-v0.8.30+commit.73712a01.js', 'soljson'],
    ['solc-linux-amd64-v0.8.30+commit.73712a01', 'native'],
    ['solc-linux-arm64-v0.8.30+commit.73712a01', undefined],
    ['solc-macosx-amd64-v0.8.30+commit.73712a01', undefined],
    ['soljson-v0.8.30.js', undefined],
    ['soljson-vlatest.js', undefined],
    ['soljson-v0.8.30+commit.73712a01.js.partial', undefined],
    ['list.json', undefined],
  ])('parses the name %s as %s', (name, kind) => {
    expect(SOLC_NAMES.readFileName(name, 'linux x64')?.kind).toBe(kind);
  });

  test('provides nothing if it does not exist', async () => {
    const sources = { directory: '/nonexistent/compilers', packages: [] };
    expect(await codeOf(new CompilerFinder(sources).find(OLD))).toBe(
      'unsupported_compiler_version',
    );
  });
});

describe('Installed packages', () => {
  test("provide the bundled dependency's version by default", async () => {
    const file = await new CompilerFinder({}).find('0.8.37');
    expect(file).toMatchObject({ longVersion: INSTALLED, source: 'package', listed: true });
  });

  test('are rejected if they contain an unexpected file', async () => {
    const folder = await makeFolder();
    await writeFile(path.join(folder, 'package.json'), '{"name":"solc","version":"0.8.30"}');
    await symlink(realSoljson, path.join(folder, 'soljson.js'));
    const finder = new CompilerFinder({ packages: [folder] });
    expect(await codeOf(finder.find('0.8.30'))).toBe('compiler_checksum_mismatch');
    // solc@0.8.7 contains 0.7.5, so the catalogue does not have that package.
    await writeFile(path.join(folder, 'package.json'), '{"name":"solc","version":"0.8.7"}');
    expect(await codeOf(finder.find('0.8.7'))).toBe('unsupported_compiler_version');
  });

  test('are suggested as nearest when another version is requested', async () => {
    const finder = new CompilerFinder({ packages: [solcPackageOf(OLD)] });
    const error = await finder.find('0.4.20').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'unsupported_compiler_version',
      details: { nearest: [OLD] },
    });
  });
});

/** Starts a server with the layout of the official binaries, and a finder that downloads from it. */
async function serveBinaries(
  files: Readonly<Record<string, string>>,
  more: Partial<DownloadOptions> = {},
): Promise<{
  server: WebServer;
  asked: string[];
  directory: string;
  download: DownloadOptions;
  finder: CompilerFinder;
}> {
  const asked: string[] = [];
  const server = await startWebServer((request, response) => {
    const name = decodeURIComponent(request.url ?? '').replace(
      /^\/mirror\/(?:bin|linux-amd64)\//,
      '',
    );
    asked.push(name);
    const text = files[name];
    if (name === `soljson-v${OLD}.js` && text === undefined) {
      createReadStream(realSoljson).pipe(response);
    } else {
      response.writeHead(text === undefined ? 404 : 200).end(text);
    }
  });
  const fetch = createGuardedFetch({
    allowPrivate: [server.hostPort],
    maxBytes: 1000,
    deadlineMs: 20_000,
    maxRedirects: 3,
    userAgent: 'fullmatch-test',
  });
  const directory = path.join(await makeFolder(), 'compilers');
  closers.push(server.close, () => fetch.close());
  const download = { baseUrl: `${server.url}/mirror/`, directory, fetch, native: false, ...more };
  return {
    server,
    asked,
    directory,
    download,
    finder: new CompilerFinder({ packages: [], download }),
  };
}

describe('Download', () => {
  test('is kept under its name after its checksum is verified', async () => {
    const { asked, directory, finder } = await serveBinaries({});
    const file = await finder.find('0.4.18');
    expect(file).toMatchObject({ longVersion: OLD, source: 'download', listed: true });
    expect((await readdir(directory)).sort()).toEqual([
      `soljson-v${OLD}.js`,
      `soljson-v${OLD}.js.sha256`,
    ]);
    // The catalogue has the checksum, so the list is not requested; the stored file is not requested again.
    expect(asked).toEqual([`soljson-v${OLD}.js`]);
    await finder.find('0.4.18');
    expect(asked).toHaveLength(1);
  });

  test('is shared by concurrent requests', async () => {
    const { asked, finder } = await serveBinaries({});
    await Promise.all(Array.from({ length: 8 }, () => finder.find(OLD)));
    expect(asked).toHaveLength(1);
  });

  test('with a wrong checksum leaves no file', async () => {
    const { directory, finder } = await serveBinaries({ [`soljson-v${OLD}.js`]: 'changed' });
    expect(await codeOf(finder.find(OLD))).toBe('compiler_checksum_mismatch');
    expect(await readdir(directory)).toEqual([]);
  });

  test('of an uncatalogued version is verified against the list', async () => {
    const name = `soljson-v${STRANGE}.js`;
    const sound = await serveBinaries({ [name]: 'new', 'list.json': listOf({ [name]: 'new' }) });
    expect(await sound.finder.find('0.9.0')).toMatchObject({ longVersion: STRANGE });
    expect(await readFile(path.join(sound.directory, name), 'utf8')).toBe('new');
    // A second process finds the file and its checksum file.
    expect(await sound.finder.find('0.9.0')).toMatchObject({ longVersion: STRANGE });
    expect(sound.asked).toEqual(['list.json', name]);
    const bad = await serveBinaries({ [name]: 'bad', 'list.json': listOf({ [name]: 'new' }) });
    expect(await codeOf(bad.finder.find('0.9.0'))).toBe('compiler_checksum_mismatch');
  });

  test('that is damaged on disk is repeated', async () => {
    const { asked, directory, finder } = await serveBinaries({});
    const { path: file } = await finder.find(OLD);
    await writeFile(file, 'damaged');
    expect(await finder.find(OLD)).toMatchObject({ source: 'download' });
    expect(asked).toHaveLength(2);
    expect(sha256(await readFile(path.join(directory, `soljson-v${OLD}.js`)))).toBe(
      sha256(await readFile(realSoljson)),
    );
  });

  test('that is unavailable fails, and succeeds once available', async () => {
    const { server, directory, finder } = await serveBinaries({});
    expect(await codeOf(finder.find('0.8.30'))).toBe('compiler_unavailable');
    expect(await codeOf(finder.find('0.9.1'))).toBe('compiler_unavailable');
    await server.close();
    expect(await codeOf(finder.find(OLD))).toBe('compiler_unavailable');
    expect(await readdir(directory)).toEqual([]);
  });

  test('of an unpublished version is rejected', async () => {
    const { finder } = await serveBinaries({ 'list.json': listOf({}) });
    expect(await codeOf(finder.find('0.9.1'))).toBe('unsupported_compiler_version');
    expect(await codeOf(finder.find('0.8.30'))).toBe('unsupported_compiler_version');
  });

  test('that is too large is aborted', async () => {
    const name = `soljson-v${OLD}.js`;
    const { directory, finder } = await serveBinaries({ [name]: 'x'.repeat(65_000_000) });
    expect(await codeOf(finder.find(OLD))).toBe('compiler_unavailable');
    expect(await readdir(directory)).toEqual([]);
  });
});

/** A fake native build; package registries have none. */
const NATIVE = '#!/bin/sh\ncat > /dev/null\necho "{}"\n';

describe.skipIf(THIS_MACHINE !== 'linux x64')('Native build', () => {
  const native = `solc-linux-amd64-v${STRANGE}`;
  const soljson = `soljson-v${STRANGE}.js`;
  const files = {
    [soljson]: 'js',
    [native]: NATIVE,
    'list.json': listOf({ [soljson]: 'js', [native]: NATIVE }),
  };

  test('is downloaded and used if available', async () => {
    const { finder, directory, asked } = await serveBinaries(files, { native: true });
    const file = await finder.find('0.9.0');
    expect(file).toMatchObject({ kind: 'native', source: 'download', pinned: false });
    expect((await stat(path.join(directory, native))).mode & 0o111).not.toBe(0);
    expect(asked).not.toContain(soljson);
  });

  test('that cannot run here falls back to soljson, probing once', async () => {
    const { asked, download } = await serveBinaries(files, { native: true });
    let probes = 0;
    const canRun = async (): Promise<boolean> => {
      probes += 1;
      return false;
    };
    const finder = new CompilerFinder({ packages: [], download, canRun });
    expect(await finder.find('0.9.0')).toMatchObject({ kind: 'soljson' });
    expect(await finder.find('0.9.0')).toMatchObject({ kind: 'soljson' });
    expect(probes).toBe(1);
    expect(asked.filter((name) => name === soljson)).toHaveLength(1);
    expect(asked.filter((name) => name === native)).toHaveLength(1);
  });

  test('with a wrong checksum falls back to soljson', async () => {
    const { finder, directory } = await serveBinaries(
      { ...files, [native]: 'other' },
      { native: true },
    );
    expect(await finder.find('0.9.0')).toMatchObject({ kind: 'soljson' });
    expect(await readdir(directory)).not.toContain(native);
  });

  test('is not requested again if the mirror lacks it and soljson is cached', async () => {
    const { asked, finder } = await serveBinaries({}, { native: true });
    expect(await finder.find(OLD)).toMatchObject({ kind: 'soljson' });
    const before = asked.length;
    await finder.find(OLD);
    expect(asked).toHaveLength(before);
  });
});

describe('Download folder', () => {
  const names = ['0', '1', '2'].map((patch) => `0.9.${patch}+commit.0badc0d${patch}`);
  const texts = Object.fromEntries(
    names.map((version) => [`soljson-v${version}.js`, version.repeat(100)]),
  );
  const files = { ...texts, 'list.json': listOf(texts) };

  test('evicts the least recently used files beyond its size limit', async () => {
    const bytes = (names[0]?.length ?? 0) * 100;
    let now = Date.now() - 10_000_000;
    const maxBytes = 2 * bytes;
    const { finder, directory } = await serveBinaries(files, { maxBytes, now: () => now });
    const find = async (version: string): Promise<void> => {
      now += 1_000_000;
      await finder.find(version);
      const kept = path.join(directory, `soljson-v${names[Number(version.slice(4))]}.js.sha256`);
      await utimes(kept, now / 1000, now / 1000);
    };
    await find('0.9.0');
    await find('0.9.1');
    await find('0.9.0');
    await find('0.9.2');
    const left = (await readdir(directory)).filter((name) => name.endsWith('.js')).sort();
    expect(left).toEqual([`soljson-v${names[0]}.js`, `soljson-v${names[2]}.js`]);
  });

  test('recovers from a killed download by repeating it', async () => {
    const { finder, directory } = await serveBinaries(files);
    await mkdir(directory, { recursive: true });
    const name = `soljson-v${names[0]}.js`;
    await writeFile(
      path.join(directory, `${name}.partial`),
      'a part of it that is much longer'.repeat(999),
    );
    const lock = path.join(directory, `${name}.lock`);
    await writeFile(lock, '');
    const longAgo = Date.now() / 1000 - 3600;
    await utimes(lock, longAgo, longAgo);
    const file = await finder.find('0.9.0');
    expect(await readFile(file.path, 'utf8')).toBe(texts[name]);
    expect((await readdir(directory)).sort()).toEqual([name, `${name}.sha256`]);
  });

  test('is filled by one process while others wait', async () => {
    const { asked, download } = await serveBinaries(files);
    const finders = Array.from({ length: 3 }, () => new CompilerFinder({ packages: [], download }));
    await Promise.all(finders.map((finder) => finder.find('0.9.1')));
    expect(asked.filter((name) => name === `soljson-v${names[1]}.js`)).toHaveLength(1);
  });
});

test('rejects a recently failed version without another request', async () => {
  let now = 0;
  const name = `soljson-v${OLD}.js`;
  const { asked, finder } = await serveBinaries({ [name]: 'changed' }, { now: () => now });
  expect(await codeOf(finder.find(OLD))).toBe('compiler_checksum_mismatch');
  expect(await codeOf(finder.find(OLD))).toBe('compiler_checksum_mismatch');
  expect(asked).toHaveLength(1);
  now += 60_000;
  expect(await codeOf(finder.find(OLD))).toBe('compiler_checksum_mismatch');
  expect(asked).toHaveLength(2);
});

test('neither lists nor suggests compilers that cannot run', async () => {
  const directory = await makeFolder();
  const tooOld = 'soljson-v0.1.2+commit.d0d36e31.js';
  await writeFile(path.join(directory, tooOld), 'too old');
  await writeFile(path.join(directory, 'soljson-v0.4.7+commit.822622cf.js'), 'damaged');
  await writeFile(path.join(directory, `soljson-v${OLD}.js`), 'damaged');
  // Native builds of that time do not read standard JSON.
  const native = 'solc-linux-amd64-v0.4.10+commit.f0d539ae';
  await writeFile(path.join(directory, native), '', { mode: 0o755 });
  const list = listOf({ [tooOld]: 'too old', [native]: '' });
  await writeFile(path.join(directory, 'list.json'), list);
  const finder = new CompilerFinder({ directory, packages: [] });
  expect(await finder.listUsable()).toEqual([]);
  const error = await finder.find('0.1.2').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'unsupported_compiler_version' });
  expect((error as Error).message).toContain('too old');
  const missing = await finder.find('0.4.19').catch((thrown: unknown) => thrown);
  expect((missing as Error).message).toMatch(/^Solidity 0\.4\.19\S* is not installed here/);
  expect((missing as Error).message).toContain('compilers.downloadUrl');
  expect((missing as Error).message).not.toContain('Nearest');
  expect((missing as Error).message).not.toContain(directory);
});

test('names the setting of Vyper downloads when a Vyper compiler is missing', async () => {
  const finder = new CompilerFinder({ packages: [] }, VYPER);
  const missing = (await finder
    .find('0.3.10')
    .catch((thrown: unknown) => thrown)) as FullmatchError;
  expect(missing.message).toContain('compilers.vyperDownloadUrl');
  expect(missing.forOperator).toContain('set compilers.vyperDownloadUrl');
});

describe('Available compilers', () => {
  test('are listed with the file to be run, without downloading', async () => {
    const { asked, directory } = await serveBinaries({});
    const entries = await listCompilers({
      packages: [solcPackageOf(INSTALLED)],
      directory,
    });
    const here = entries.filter(({ file }) => file !== undefined);
    expect(here.map(({ longVersion }) => longVersion)).toEqual([INSTALLED]);
    expect(entries.length).toBeGreaterThan(90);
    expect(asked).toEqual([]);
  });

  test('include installed and downloadable ones, newest first', async () => {
    const packages = [solcPackageOf(OLD), solcPackageOf(INSTALLED)];
    expect(await new CompilerFinder({ packages }).listUsable()).toEqual([
      { compiler: 'solc', longVersion: INSTALLED, isInstalled: true, isPinned: true },
      { compiler: 'solc', longVersion: OLD, isInstalled: true, isPinned: true },
    ]);
    const { asked, finder } = await serveBinaries({});
    const usable = await finder.listUsable();
    expect(usable[0]).toEqual({
      compiler: 'solc',
      longVersion: INSTALLED,
      isInstalled: false,
      isPinned: true,
    });
    expect(usable.length).toBeGreaterThan(90);
    expect(asked).toEqual([]);
  });

  test('are read again on verification', async () => {
    const directory = await makeFolder();
    const file = path.join(directory, `soljson-v${OLD}.js`);
    await copyFile(realSoljson, file);
    const sources = { directory, packages: [] };
    expect(await verifyCompilers(sources)).toMatchObject([{ longVersion: OLD, problems: [] }]);
    await writeFile(file, 'damaged');
    const [entry, ...others] = await verifyCompilers(sources);
    expect(others).toEqual([]);
    expect(entry?.file).toBeUndefined();
    expect(entry?.problems).toMatchObject([{ code: 'checksum' }]);
  });

  test('are fetched by any notation of a version', async () => {
    const file = await fetchCompiler({ packages: [solcPackageOf(OLD)] }, 'v0.4.18');
    expect(file.longVersion).toBe(OLD);
  });
});
