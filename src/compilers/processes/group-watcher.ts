import { spawn, type ChildProcess } from 'node:child_process';
import { COMPILER_ENVIRONMENT } from './isolation.ts';

/**
 * Reads `+ <group>` and `- <group>` line by line. Its input ends when this program does, however it ends; then it
 * kills the process groups that are left.
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
 * Ends process groups that outlive this program, for systems whose kernel cannot be asked for it: a compiler at work
 * notices nothing by itself. One small shell watches over all of them, started with the first.
 */
class GroupWatcher {
  readonly #groups = new Set<number>();
  #shell: ChildProcess | undefined;

  /** Watches over a process group until the function given back is called. */
  watch(group: number): () => void {
    this.#groups.add(group);
    if (this.#shell === undefined) this.#start();
    else this.#tell('+', group);
    return () => {
      this.#groups.delete(group);
      this.#tell('-', group);
    };
  }

  /** A group of its own, so that a signal to this program's group leaves it to do its work. */
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
    // It must not keep this program from ending.
    shell.unref();
    (shell.stdin as unknown as { unref(): void }).unref();
    for (const group of this.#groups) this.#tell('+', group);
  }

  #tell(sign: '+' | '-', group: number): void {
    this.#shell?.stdin?.write(`${sign} ${group}\n`);
  }
}

const watcher = new GroupWatcher();

/** Has a process group killed when this program ends, however it ends, until the function given back is called. */
export function endGroupWithProgram(group: number): () => void {
  return watcher.watch(group);
}
