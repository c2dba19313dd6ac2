import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type InputFile } from '../../../src/solidity/input-file.ts';
import { createTemporaryFolder } from '../temporary-folder.ts';
import { CLIENTS_FOLDER, type ClientName, installClient } from './install-client.ts';

/** The result of a client command. */
export interface ClientRun {
  readonly exitCode: number;
  /** Both streams: clients switch between them. */
  readonly printed: string;
}

/** A project of a client's user, in a temporary folder with its own home. */
export interface ClientProject {
  readonly folder: string;
  readonly home: string;
  /** Runs a program of node_modules/.bin, or one at an absolute path. */
  readonly run: (
    program: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
  ) => Promise<ClientRun>;
  /** Appends a comment to a source, which changes only the metadata hash in the bytecode. */
  readonly changeComment: (source: string) => Promise<void>;
  readonly readJson: <T>(file: string) => Promise<T>;
  /** The files in and below a folder, as a user drops them on the verify page. */
  readonly readFolder: (folder: string) => Promise<InputFile[]>;
  readonly remove: () => Promise<void>;
}

const COMMAND_TIMEOUT_MS = 120_000;

/** Creates a project from test/clients/<name>: a user's configuration and the contracts. */
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
    // As after an installation in the project folder.
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
