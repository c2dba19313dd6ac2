import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('soljson-process.mjs', import.meta.url));
/** V8's optimizing WebAssembly compiler costs more time than it saves in a process that compiles a few inputs. */
const FLAGS = ['--liftoff-only', '--no-warnings'];

/**
 * Compiles standard JSON inputs with the solc of an installed package, in order, all in one child process.
 * @param root the only source given to the compiler; it resolves the others through imports
 */
export function runSoljson(
  packageName: string,
  inputs: readonly object[],
  root?: string,
): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [...FLAGS, PROGRAM],
      { maxBuffer: 256 * 1024 * 1024, timeout: 300_000 },
      (error, stdout) => {
        if (error === null) resolve(JSON.parse(stdout) as unknown[]);
        else reject(new Error(`${packageName} failed: ${error.message}`));
      },
    );
    child.stdin?.end(JSON.stringify({ package: packageName, inputs, root }));
  });
}
