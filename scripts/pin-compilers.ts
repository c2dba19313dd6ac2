/**
 * Writes src/compilers/sources/solidity-catalogue.ts: one line per Solidity version on npm from 0.3.3 on, with the
 * checksums of its soljson.js and the version that this file itself reports. Run by hand for a new version:
 * `npx tsx scripts/pin-compilers.ts [version…]`; without versions it adds those missing from the catalogue.
 *
 * `npx tsx scripts/pin-compilers.ts --lists <folder>` reads the checksums of the official binaries from the project's
 * own lists, `bin/list.json` and `linux-amd64/list.json` in a checkout of its repository of binaries. Checksums already
 * in the catalogue must be the same there; releases in the soljson list that it lacks are added.
 *
 * - npm's soljson.js is byte-identical to the official binary up to 0.8.11, so its checksums are the official ones.
 *   From 0.8.12 on npm's file is reformatted: its checksum is pinned separately, and official checksums already in the
 *   catalogue are kept, never derived.
 * - A version that npm has as `x-fixed` is read from there: solc@0.8.7, for example, contains 0.7.5.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { bytesToHex } from '../src/lib/hex.ts';
import { keccak256 } from '../src/lib/keccak.ts';

const run = promisify(execFile);
const CATALOGUE = new URL('../src/compilers/sources/solidity-catalogue.ts', import.meta.url);
/** The oldest supported release, and the oldest whose npm package has the current layout. */
const OLDEST = [0, 1, 3];
const OLDEST_ON_NPM = [0, 3, 3];
/** The last version whose npm file equals the official one. */
const LAST_EQUAL = [0, 8, 11];

interface Line {
  readonly longVersion: string;
  readonly npmVersion: string;
  readonly npmSha256: string;
  readonly sha256: string;
  readonly keccak256: string;
  readonly nativeSha256: string;
}

const UNKNOWN = { npmVersion: '-', npmSha256: '-', sha256: '-', keccak256: '-', nativeSha256: '-' };

/** Pinned fields of an entry in an official list. */
interface ListedBuild {
  readonly path: string;
  readonly longVersion: string;
  readonly prerelease?: string;
  readonly sha256: string;
  readonly keccak256: string;
}

/** Prints the version that a soljson.js reports. 0.4.x to 0.5.x call it `version`, later ones `solidity_version`. */
const REPORT_VERSION = `
  const module = require(process.argv[1]);
  const name = '_solidity_version' in module ? 'solidity_version' : 'version';
  process.stdout.write(module.cwrap(name, 'string', [])());
`;

function numbersOf(version: string): number[] {
  return version
    .replace(/[-+].*$/, '')
    .split('.')
    .map(Number);
}

function compareVersions(left: readonly number[], right: readonly number[]): number {
  return left.map((number, index) => number - (right[index] ?? 0)).find((sign) => sign !== 0) ?? 0;
}

/** The npm versions to pin: the fixed one if available. */
async function listNpmVersions(): Promise<string[]> {
  const { stdout } = await run('npm', ['view', 'solc', 'versions', '--json']);
  const all = JSON.parse(stdout) as string[];
  return all.filter(
    (version) =>
      /^\d+\.\d+\.\d+(-fixed)?$/.test(version) &&
      compareVersions(numbersOf(version), OLDEST_ON_NPM) >= 0 &&
      !all.includes(`${version}-fixed`),
  );
}

async function pin(npmVersion: string, cache: string): Promise<Line> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pin-compilers-'));
  try {
    const spec = `solc@${npmVersion}`;
    await run('npm', ['pack', spec, '--silent', '--pack-destination', folder, '--cache', cache]);
    const [archive] = await readdir(folder);
    await run('tar', ['-xzf', path.join(folder, archive!), '-C', folder, 'package/soljson.js']);
    const file = path.join(folder, 'package', 'soljson.js');
    const bytes = await readFile(file);
    const { stdout } = await run(
      process.execPath,
      ['--max-old-space-size=512', '-e', REPORT_VERSION, file],
      { cwd: folder, env: {}, timeout: 60_000, killSignal: 'SIGKILL', maxBuffer: 65_536 },
    );
    // Before 0.4.1 a build reports itself as 0.3.6-3fc68da5/Release-Emscripten/clang.
    const [, release, commit] = /^(\d+\.\d+\.\d+)(?:\+commit\.|-)([0-9a-f]{8})/.exec(stdout) ?? [];
    const longVersion = release === undefined ? undefined : `${release}+commit.${commit}`;
    if (longVersion?.startsWith(`${npmVersion.replace('-fixed', '')}+`) !== true) {
      throw new Error(`${spec} holds ${JSON.stringify(stdout)}`);
    }
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const official = compareVersions(numbersOf(npmVersion), LAST_EQUAL) <= 0;
    return {
      longVersion,
      npmVersion,
      npmSha256: sha256,
      sha256: official ? sha256 : '-',
      keccak256: official ? bytesToHex(keccak256(bytes)).slice(2) : '-',
      nativeSha256: '-',
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readLines(): Promise<Line[]> {
  const text = await readFile(CATALOGUE, 'utf8');
  return [...text.matchAll(/^(\d\S*) (\S+) (\S+) (\S+) (\S+) (\S+)$/gm)].map(
    ([, longVersion, npmVersion, npmSha256, sha256, keccak, nativeSha256]) =>
      ({ longVersion, npmVersion, npmSha256, sha256, keccak256: keccak, nativeSha256 }) as Line,
  );
}

/** Replaces the table between its two backticks; the rest of the file is hand-written. */
async function writeLines(lines: readonly Line[]): Promise<void> {
  const rows = [...lines]
    .sort((left, right) =>
      compareVersions(numbersOf(left.longVersion), numbersOf(right.longVersion)),
    )
    .map((line) =>
      [
        ...[line.longVersion, line.npmVersion, line.npmSha256],
        ...[line.sha256, line.keccak256, line.nativeSha256],
      ].join(' '),
    );
  const text = await readFile(CATALOGUE, 'utf8');
  const table = /(const TABLE = `\n)[^`]*(`)/;
  if (!table.test(text)) throw new Error('the catalogue has no table');
  await writeFile(
    CATALOGUE,
    text.replace(table, (_all, head: string, tail: string) => `${head}${rows.join('\n')}\n${tail}`),
  );
}

async function readBuilds(file: string): Promise<readonly ListedBuild[]> {
  const { builds } = JSON.parse(await readFile(file, 'utf8')) as { builds: ListedBuild[] };
  return builds.filter(
    ({ prerelease, longVersion }) =>
      prerelease === undefined && compareVersions(numbersOf(longVersion), OLDEST) >= 0,
  );
}

/** Uses the list's checksum if none is known; a different known one means that a file was replaced. */
function agree(known: string, listed: string | undefined, what: string): string {
  const found = listed?.replace(/^0x/, '') ?? '-';
  if (known !== '-' && found !== '-' && known !== found) throw new Error(`${what} was replaced`);
  return known === '-' ? found : known;
}

/**
 * Merges the checksums of official lists into the catalogue. A version may be listed twice: the entry with
 * its own name counts.
 */
async function pinLists(folder: string): Promise<void> {
  const soljson = new Map(
    (await readBuilds(path.join(folder, 'bin/list.json')))
      .filter(({ path: name, longVersion }) => name === `soljson-v${longVersion}.js`)
      .map((build) => [build.longVersion, build]),
  );
  const native = new Map(
    (await readBuilds(path.join(folder, 'linux-amd64/list.json')))
      .filter(({ path: name, longVersion }) => name === `solc-linux-amd64-v${longVersion}`)
      .map((build) => [build.longVersion, build]),
  );
  const known = await readLines();
  const releases = new Set(known.map(({ longVersion }) => longVersion.split('+')[0]));
  const missing = [...soljson.keys()]
    .filter((longVersion) => !releases.has(longVersion.split('+')[0]))
    .map((longVersion) => ({ longVersion, ...UNKNOWN }));
  const lines = [...known, ...missing].map((line) => {
    const { longVersion } = line;
    const listed = soljson.get(longVersion);
    return {
      ...line,
      sha256: agree(line.sha256, listed?.sha256, longVersion),
      keccak256: agree(line.keccak256, listed?.keccak256, longVersion),
      nativeSha256: agree(line.nativeSha256, native.get(longVersion)?.sha256, longVersion),
    };
  });
  await writeLines(lines);
  console.log(
    `pinned from the lists: ${lines.filter(({ sha256 }) => sha256 !== '-').length} soljson`,
  );
}

async function main(asked: readonly string[]): Promise<void> {
  if (asked[0] === '--lists') return pinLists(asked[1] ?? '.');
  const cache = await mkdtemp(path.join(tmpdir(), 'pin-compilers-cache-'));
  try {
    const known = new Set((await readLines()).map(({ npmVersion }) => npmVersion));
    const wanted =
      asked.length > 0 ? asked : (await listNpmVersions()).filter((version) => !known.has(version));
    for (const npmVersion of wanted) {
      try {
        const line = await pin(npmVersion, cache);
        const lines = await readLines();
        const before = lines.find(({ longVersion }) => longVersion === line.longVersion);
        const official = line.sha256 === '-' && before !== undefined ? before : line;
        await writeLines([
          ...lines.filter(({ longVersion }) => longVersion !== line.longVersion),
          {
            ...line,
            sha256: official.sha256,
            keccak256: official.keccak256,
            nativeSha256: before?.nativeSha256 ?? '-',
          },
        ]);
        console.log(`pinned ${line.longVersion} from solc@${npmVersion}`);
      } catch (error) {
        process.exitCode = 1;
        console.error(`not pinned: solc@${npmVersion}: ${String(error)}`);
      }
    }
  } finally {
    await rm(cache, { recursive: true, force: true });
  }
}

await main(process.argv.slice(2));
