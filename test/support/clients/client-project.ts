import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type InputFile } from '../../../src/solidity/input-file.ts';
import { createTemporaryFolder } from '../temporary-folder.ts';
import { CLIENTS_FOLDER, type ClientName, installClient } from './install-client.ts';

/** How a command of a client ended. */
export interface ClientRun {
  readonly exitCode: number;
  /** Both of its streams: clients write the same thing now to one, now to the other. */
  readonly printed: string;
}

/** A project of a developer who uses a client, in a temporary folder with a home of its own. */
export interface ClientProject {
  readonly folder: string;
  readonly home: string;
  /** Runs a program of node_modules/.bin, or one at an absolute path. */
  readonly run: (
    program: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
  ) => Promise<ClientRun>;
  /** Appends a comment to a source, which changes the metadata hash and nothing else of the code. */
  readonly changeComment: (source: string) => Promise<void>;
  readonly readJson: <T>(file: string) => Promise<T>;
  /** The files of a folder and below, as somebody drops them on the page that verifies. */
  readonly readFolder: (folder: string) => Promise<InputFile[]>;
  readonly remove: () => Promise<void>;
}

const COMMAND_TIMEOUT_MS = 120_000;

/** Makes a project from test/clients/<name>: its configuration as a user writes it, and the contracts. */
export async function createClientProject(
  name: ClientName,
  sourceFolder: string,
  contracts: 'contracts' | 'upgradeable' = 'contracts',
): Promise<ClientProject> {
  const { modules, searchPath } = await installClient(name);
  const temporary = await createTemporaryFolder(`fullmatch-${name}-`);
  const folder = path.join(temporary.path, 'project');
  const home = path.join(temporary.path, 'home');
  await mkdir(home);
  await cp(path.join(CLIENTS_FOLDER, name), folder, {
    recursive: true,
    // Of someone who installed it in its place.
    filter: (file) => path.basename(file) !== 'node_modules',
  });
  await cp(path.join(CLIENTS_FOLDER, contracts), path.join(folder, sourceFolder), {
    recursive: true,
  });
  await symlink(modules, path.join(folder, 'node_modules'));
  return {
    folder,
    home,
    run: (program, args, environment) =>
      new Promise((resolve, reject) => {
        const file = path.resolve(folder, 'node_modules/.bin', program);
        const env = { PATH: searchPath, HOME: home, ...environment };
        execFile(
          file,
          args,
          { cwd: folder, env, timeout: COMMAND_TIMEOUT_MS },
          (error, stdout, stderr) => {
            const printed = `${stdout}${stderr}`;
            if (error === null) resolve({ exitCode: 0, printed });
            else if (typeof error.code === 'number') resolve({ exitCode: error.code, printed });
            else reject(new Error(`${program} did not run to its end: ${error.message}${printed}`));
          },
        );
      }),
    changeComment: async (source) => {
      const file = path.join(folder, sourceFolder, source);
      await writeFile(file, `${await readFile(file, 'utf8')}// A comment that was not there.\n`);
    },
    readJson: async (file) => JSON.parse(await readFile(path.join(folder, file), 'utf8')) as never,
    readFolder: async (below) => {
      const entries = await readdir(path.join(folder, below), {
        recursive: true,
        withFileTypes: true,
      });
      return Promise.all(
        entries
          .filter((entry) => entry.isFile())
          .map(async ({ parentPath, name }) => ({
            path: path.relative(folder, path.join(parentPath, name)),
            text: await readFile(path.join(parentPath, name), 'utf8'),
          })),
      );
    },
    remove: temporary.remove,
  };
}
