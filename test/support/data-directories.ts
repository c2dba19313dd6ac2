import path from 'node:path';
import { afterEach } from 'vitest';
import { silentLogger } from '../../src/log.ts';
import { readLockFile, isServerOn } from '../../src/store/embedded/lock-file.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { openStoreProcess, type StoreProcess } from './open-store-process.ts';
import { createTemporaryFolder } from './temporary-folder.ts';
import { writeUsedData } from './used-data.ts';

export interface DataDirectories {
  /** The path of a data directory that does not exist yet, below its own folder. */
  readonly temporaryDataDir: (...names: string[]) => Promise<string>;
  /** A data directory that a service has used before. */
  readonly usedDataDir: () => Promise<string>;
  /** Opens the store of a data directory in this process. */
  readonly open: (dataDir: string) => Promise<Store>;
  /** Opens it in a separate process, optionally as another user. */
  readonly openInProcess: (
    dataDir: string,
    user?: { readonly uid?: number; readonly gid?: number },
  ) => Promise<StoreProcess>;
  /** Registers cleanup after the test, run before earlier registrations. */
  readonly cleanUp: (action: () => Promise<unknown>) => void;
}

/** For the tests of one file: stores are closed after each test, and leftover servers killed. */
export function dataDirectories(): DataDirectories {
  const cleanUps: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });
  const cleanUp = (action: () => Promise<unknown>): void => void cleanUps.push(action);
  const temporaryDataDir = async (...names: string[]): Promise<string> => {
    const folder = await createTemporaryFolder();
    const dataDir = path.join(folder.path, ...names);
    cleanUp(async () => {
      await killServer(path.join(dataDir, 'postgres'));
      await folder.remove();
    });
    return dataDir;
  };
  return {
    cleanUp,
    temporaryDataDir,
    async usedDataDir() {
      const dataDir = await temporaryDataDir('data');
      await writeUsedData(dataDir);
      return dataDir;
    },
    async open(dataDir) {
      const store = await openStore({ dataDir, poolSize: 4 }, silentLogger);
      cleanUp(() => store.close());
      return store;
    },
    async openInProcess(dataDir, user = {}) {
      const opened = await openStoreProcess(dataDir, user);
      cleanUp(() => opened.kill());
      return opened;
    },
  };
}

/** @param data the folder of the database files */
export async function killServer(data: string): Promise<void> {
  const lock = await readLockFile(data);
  if (lock !== undefined && (await isServerOn(lock.pid, data))) process.kill(lock.pid, 'SIGKILL');
}
