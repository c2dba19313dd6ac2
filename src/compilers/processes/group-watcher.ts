import { spawn, type ChildProcess } from 'node:child_process';
import { COMPILER_ENVIRONMENT } from './isolation.ts';

/**
 * Reads lines `+ <group>` and `- <group>`. Its input closes when this program ends, for whatever reason; then
 * it kills the remaining process groups.
 */
const WATCHER = `
groups=
while read -r sign group; do
  left=
  for each in $groups; do [ "$each" = "$group" ] || left="$left $each"; done
  [ "$sign" = + ] && left="$left $group"
  groups=$left
done
for each in $groups; do kill -9 "-$each" 2>/dev/null; done
`;

/**
 * Kills process groups that outlive this program, on systems whose kernel cannot do so: a busy compiler does
 * not notice by itself. One small shell, started with the first group, watches all of them.
 */
class GroupWatcher {
  readonly #groups = new Set<number>();
  #shell: ChildProcess | undefined;

  /** Watches a process group until the returned function is called. */
  watch(group: number): () => void {
    this.#groups.add(group);
    if (this.#shell === undefined) this.#start();
    else this.#tell('+', group);
    return () => {
      this.#groups.delete(group);
      this.#tell('-', group);
    };
  }

  /** Runs in its own group, so that a signal to this program's group does not reach it. */
  #start(): void {
    const shell = spawn('/bin/sh', ['-c', WATCHER], {
      cwd: '/',
      env: { ...COMPILER_ENVIRONMENT },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    this.#shell = shell;
    const forget = (): void => {
      if (this.#shell === shell) this.#shell = undefined;
    };
    shell.on('error', forget).on('exit', forget);
    shell.stdin.on('error', forget);
    // Must not keep this program alive.
    shell.unref();
    (shell.stdin as unknown as { unref(): void }).unref();
    for (const group of this.#groups) this.#tell('+', group);
  }

  #tell(sign: '+' | '-', group: number): void {
    this.#shell?.stdin?.write(`${sign} ${group}\n`);
  }
}

const watcher = new GroupWatcher();

/**
 * Ensures that a process group is killed when this program ends, for whatever reason, until the returned
 * function is called.
 */
export function killGroupOnExit(group: number): () => void {
  return watcher.watch(group);
}
