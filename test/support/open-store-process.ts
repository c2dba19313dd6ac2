import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A separate process that has the store of a data directory open. */
export interface StoreProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Its output once the store was open, or the error code. */
  readonly opened: { joined?: boolean; processId?: number; version?: string; code?: string };
  /** Stops it cleanly; resolves once it has exited. */
  close(): Promise<void>;
  /** Kills it with SIGKILL; resolves once it has exited. */
  kill(): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL('store-process.mjs', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Starts such a process, optionally as another user, and waits until its store is open. */
export async function openStoreProcess(
  dataDir: string,
  user: { uid?: number; gid?: number } = {},
): Promise<StoreProcess> {
  const child = spawn(process.execPath, [SCRIPT, dataDir], {
    cwd: ROOT,
    ...user,
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const lines = createInterface({ input: child.stdout });
  const exit = once(child, 'exit');
  const line = await Promise.race([
    once(lines, 'line').then(([first]) => String(first)),
    exit.then(() =>
      Promise.reject(new Error(`the process ended before its store was open: ${complaint}`)),
    ),
  ]);
  return {
    child,
    opened: JSON.parse(line) as StoreProcess['opened'],
    async close() {
      child.stdin.end();
      await exit;
    },
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}
