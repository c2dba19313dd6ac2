import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, copyFile, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { solcPackageOf } from '../../../test/support/solc-packages.ts';
import { createTemporaryFolder } from '../../../test/support/temporary-folder.ts';
import { startWebServer, type WebServer } from '../../../test/support/web-server.ts';
import { FullmatchError } from '../../errors.ts';
import { createGuardedFetch } from '../../lib/guarded-fetch.ts';
import { CompilerFinder, type CompilerSources } from './compiler-finder.ts';
import { readFileName } from './directory-source.ts';
import { fetchCompiler, listCompilers, verifyCompilers } from '../inspect-compilers.ts';

const OLD = '0.4.18+commit.9cf6e910';
const INSTALLED = '0.8.37+commit.f401782d';
/** A version that no catalogue has. */
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

/** A list.json that names files with the checksums of the texts. */
function listOf(files: Readonly<Record<string, string>>): string {
  const builds = Object.entries(files).map(([name, text]) => ({
    path: name,
    longVersion: readFileName(name, 'linux x64')?.longVersion,
    sha256: `0x${sha256(text)}`,
  }));
  return JSON.stringify({ builds });
}

describe('the directory', () => {
  test('gives a file that the catalogue knows', async () => {
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

  test('refuses a file that is not the published one, and falls to the next source', async () => {
    const directory = await makeFolder();
    await writeFile(path.join(directory, `soljson-v${OLD}.js`), 'changed');
    expect(await codeOf(new CompilerFinder({ directory, packages: [] }).find(OLD))).toBe(
      'compiler_checksum_mismatch',
    );
    // Trust is for what no list names, not for what a list contradicts.
    expect(
      await codeOf(new CompilerFinder({ directory, packages: [], trustUnlisted: true }).find(OLD)),
    ).toBe('compiler_checksum_mismatch');
    const packages = [solcPackageOf(OLD)];
    expect((await new CompilerFinder({ directory, packages }).find(OLD)).source).toBe('package');
  });

  test('runs what its list.json names, and what nothing names only when trusted', async () => {
    const directory = await makeFolder();
    const names = [`soljson-v${STRANGE}.js`, `soljson-v${NIGHTLY}.js`];
    for (const name of names) await writeFile(path.join(directory, name), name);
    const find = (version: string, more: Partial<CompilerSources> = {}): Promise<unknown> =>
      new CompilerFinder({ directory, packages: [], ...more }).find(version);
    expect(await codeOf(find('0.9.0'))).toBe('unsupported_compiler_version');
    expect(await find('0.9.0', { trustUnlisted: true })).toMatchObject({ listed: false });
    await writeFile(
      path.join(directory, 'list.json'),
      listOf(Object.fromEntries(names.map((name) => [name, name]))),
    );
    expect(await find('0.9.0')).toMatchObject({ longVersion: STRANGE, listed: true });
    expect(await find(`v${NIGHTLY}`)).toMatchObject({ longVersion: NIGHTLY, listed: true });
    await writeFile(path.join(directory, names[0] ?? ''), 'changed');
    expect(await codeOf(find('0.9.0'))).toBe('compiler_checksum_mismatch');
  });

  test('prefers a native build of this machine, when it may be run and is listed', async () => {
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
  ])('reads the name %s as %s', (name, kind) => {
    expect(readFileName(name, 'linux x64')?.kind).toBe(kind);
  });

  test('that is not there has nothing', async () => {
    const sources = { directory: '/nonexistent/compilers', packages: [] };
    expect(await codeOf(new CompilerFinder(sources).find(OLD))).toBe(
      'unsupported_compiler_version',
    );
  });
});

describe('installed packages', () => {
  test('give the version that this program depends on, out of the box', async () => {
    const file = await new CompilerFinder({}).find('0.8.37');
    expect(file).toMatchObject({ longVersion: INSTALLED, source: 'package', listed: true });
  });

  test('are not believed: a package that holds another file is refused', async () => {
    const folder = await makeFolder();
    await writeFile(path.join(folder, 'package.json'), '{"name":"solc","version":"0.8.30"}');
    await symlink(realSoljson, path.join(folder, 'soljson.js'));
    const finder = new CompilerFinder({ packages: [folder] });
    expect(await codeOf(finder.find('0.8.30'))).toBe('compiler_checksum_mismatch');
    // solc@0.8.7 holds 0.7.5, so no catalogue names that package.
    await writeFile(path.join(folder, 'package.json'), '{"name":"solc","version":"0.8.7"}');
    expect(await codeOf(finder.find('0.8.7'))).toBe('unsupported_compiler_version');
  });

  test('are told as the nearest when another version is asked for', async () => {
    const finder = new CompilerFinder({ packages: [solcPackageOf(OLD)] });
    const error = await finder.find('0.4.20').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'unsupported_compiler_version',
      details: { nearest: [OLD] },
    });
  });
});

/** A server in the layout of the official binaries, and a finder that downloads from it. */
async function serveBinaries(
  files: Readonly<Record<string, string>>,
): Promise<{ server: WebServer; asked: string[]; directory: string; finder: CompilerFinder }> {
  const asked: string[] = [];
  const server = await startWebServer((request, response) => {
    const name = decodeURIComponent(request.url ?? '').replace('/mirror/bin/', '');
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
  const download = { baseUrl: `${server.url}/mirror/`, directory, fetch };
  return { server, asked, directory, finder: new CompilerFinder({ packages: [], download }) };
}

describe('a download', () => {
  test('is kept under its name once its checksum is the published one', async () => {
    const { asked, directory, finder } = await serveBinaries({});
    const file = await finder.find('0.4.18');
    expect(file).toMatchObject({ longVersion: OLD, source: 'download', listed: true });
    expect((await readdir(directory)).sort()).toEqual([
      `soljson-v${OLD}.js`,
      `soljson-v${OLD}.js.sha256`,
    ]);
    // The catalogue knows the checksum, so the list was not asked for; and what is kept is not asked for again.
    expect(asked).toEqual([`soljson-v${OLD}.js`]);
    await finder.find('0.4.18');
    expect(asked).toHaveLength(1);
  });

  test('is shared by all who ask at once', async () => {
    const { asked, finder } = await serveBinaries({});
    await Promise.all(Array.from({ length: 8 }, () => finder.find(OLD)));
    expect(asked).toHaveLength(1);
  });

  test('that is not what was published leaves nothing', async () => {
    const { directory, finder } = await serveBinaries({ [`soljson-v${OLD}.js`]: 'changed' });
    expect(await codeOf(finder.find(OLD))).toBe('compiler_checksum_mismatch');
    expect(await readdir(directory)).toEqual([]);
  });

  test('of a version that only the list knows is checked by the list', async () => {
    const name = `soljson-v${STRANGE}.js`;
    const sound = await serveBinaries({ [name]: 'new', 'list.json': listOf({ [name]: 'new' }) });
    expect(await sound.finder.find('0.9.0')).toMatchObject({ longVersion: STRANGE });
    expect(await readFile(path.join(sound.directory, name), 'utf8')).toBe('new');
    // A second process finds the file and its checksum beside it.
    expect(await sound.finder.find('0.9.0')).toMatchObject({ longVersion: STRANGE });
    expect(sound.asked).toEqual(['list.json', name]);
    const bad = await serveBinaries({ [name]: 'bad', 'list.json': listOf({ [name]: 'new' }) });
    expect(await codeOf(bad.finder.find('0.9.0'))).toBe('compiler_checksum_mismatch');
  });

  test('that was damaged on disk is made again', async () => {
    const { asked, directory, finder } = await serveBinaries({});
    const { path: file } = await finder.find(OLD);
    await writeFile(file, 'damaged');
    expect(await finder.find(OLD)).toMatchObject({ source: 'download' });
    expect(asked).toHaveLength(2);
    expect(sha256(await readFile(path.join(directory, `soljson-v${OLD}.js`)))).toBe(
      sha256(await readFile(realSoljson)),
    );
  });

  test('that is not available now says so, and works once it is', async () => {
    const { server, directory, finder } = await serveBinaries({});
    expect(await codeOf(finder.find('0.8.30'))).toBe('compiler_unavailable');
    expect(await codeOf(finder.find('0.9.1'))).toBe('compiler_unavailable');
    await server.close();
    expect(await codeOf(finder.find(OLD))).toBe('compiler_unavailable');
    expect(await readdir(directory)).toEqual([]);
  });

  test('of a version that nobody published is refused', async () => {
    const { finder } = await serveBinaries({ 'list.json': listOf({}) });
    expect(await codeOf(finder.find('0.9.1'))).toBe('unsupported_compiler_version');
    expect(await codeOf(finder.find('0.8.30'))).toBe('unsupported_compiler_version');
  });

  test('too large is cut off', async () => {
    const name = `soljson-v${OLD}.js`;
    const { directory, finder } = await serveBinaries({ [name]: 'x'.repeat(65_000_000) });
    expect(await codeOf(finder.find(OLD))).toBe('compiler_unavailable');
    expect(await readdir(directory)).toEqual([]);
  });
});

describe('the compilers that are here', () => {
  test('are listed with the file that would be run, and downloads are not made', async () => {
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

  test('are what can be used, newest first, beside what can be downloaded', async () => {
    const packages = [solcPackageOf(OLD), solcPackageOf(INSTALLED)];
    expect(await new CompilerFinder({ packages }).listUsable()).toEqual([
      { longVersion: INSTALLED, isInstalled: true },
      { longVersion: OLD, isInstalled: true },
    ]);
    const { asked, finder } = await serveBinaries({});
    const usable = await finder.listUsable();
    expect(usable[0]).toEqual({ longVersion: INSTALLED, isInstalled: false });
    expect(usable.length).toBeGreaterThan(90);
    expect(asked).toEqual([]);
  });

  test('are read again when they are verified', async () => {
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

  test('are fetched by the spelling of a version', async () => {
    const file = await fetchCompiler({ packages: [solcPackageOf(OLD)] }, 'v0.4.18');
    expect(file.longVersion).toBe(OLD);
  });
});
