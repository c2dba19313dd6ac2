import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../errors.ts';
import { type Logger } from '../../log.ts';
import { type DataDirectory } from './data-directory.ts';
import { CHILD_ENVIRONMENT, spawnAs } from './run-command.ts';
import { systemCode } from './store-failure.ts';
import { wait } from '../wait.ts';

/** The pipe in the data directory that every user of the server holds open for writing. */
const PIPE = 'fullmatch-users';
/** Written by the last user that has stopped the server itself. */
const STOPPED = 'stopped';
const WATCHER_TIMEOUT_MS = 5_000;
const POLL_MS = 5;
/** How often a user looks whether the watcher still watches: somebody may have killed it. */
const RENEW_MS = 5_000;

/**
 * Waits until no process holds the pipe any more, which the kernel tells, however the processes ended; then asks the
 * server that runs on the data directory $1 to stop, fast, and removes the pipe. Descriptor 4 keeps the pipe open until
 * the process that started the watcher holds it, or is gone: both end the standard input. A user may come between the
 * end of the last one and the removal of the pipe: the pipe is waited for once more when nobody can open it any more, and
 * a new pipe then says that another watcher has taken over, which is looked at once more right before the end. A server that was started
 * in the last moment writes its lock file a moment later, so the watcher looks for one twice. A socket folder that lies
 * apart from the data is removed when the server is gone.
 */
const WATCHER = `
pipe=$1/${PIPE}
[ -p "$pipe" ] || mkfifo -m 600 "$pipe" || exit 1
exec 4<>"$pipe" 3<"$pipe"
read -r said
exec 4>&-
said=
while read -r line <&3; do said=$line; done
rm -f "$pipe"
while read -r line <&3; do said=$line; done
[ -p "$pipe" ] && exit 0
server() {
  read -r pid <"$1/postmaster.pid" || return 1
  case $pid in ''|*[!0-9]*) return 1 ;; esac
  if [ -d /proc/self ]; then [ "/proc/$pid/cwd" -ef "$1" ]
  else ps -o command= -p "$pid" | grep -qF -e "-D $1"; fi
}
if ! server "$1" 2>/dev/null; then
  [ "$said" = ${STOPPED} ] && exit 0
  sleep 1
  [ -p "$pipe" ] && exit 0
  server "$1" 2>/dev/null || exit 0
fi
sockets=$(sed -n 5p "$1/postmaster.pid")
[ -p "$pipe" ] && exit 0
kill -INT "$pid"
[ "$sockets" = "$1" ] && exit 0
left=60
while [ $left -gt 0 ] && kill -0 "$pid" 2>/dev/null; do sleep 1; left=$((left - 1)); done
rmdir "$sockets"
`;

/** This process's place among the users of an embedded server, which the server does not outlive. */
export interface ServerUse {
  /** Makes sure that a watcher knows of this process. Never rejects: without a watcher the server works as well. */
  ensure(data: DataDirectory): Promise<void>;
  /** Gives the place up; `stopped` says that this process has stopped the server. */
  release(stopped: boolean): Promise<void>;
}

/**
 * Counts this process among the users of an embedded server: when the last of them is gone, also by SIGKILL, a small
 * shell stops the server. Users are known by a named pipe that each holds open, not by process ids, which the system
 * gives to others.
 */
export function useServer(log: Logger): ServerUse {
  let held: FileHandle | undefined;
  let renewal: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();
  let released = false;

  const hold = async (data: DataDirectory): Promise<void> => {
    if (released) return;
    try {
      const fresh = (await openPipe(data)) ?? (await startWatcher(data));
      await held?.close();
      held = fresh;
    } catch (error) {
      log.warn(
        { error: messageOf(error) },
        'PostgreSQL will not be stopped should this process be killed',
      );
    }
  };
  const inTurn = (data: DataDirectory): Promise<void> => (last = last.then(() => hold(data)));
  const ensure = (data: DataDirectory): Promise<void> => {
    clearInterval(renewal);
    renewal = setInterval(() => void inTurn(data), RENEW_MS).unref();
    return inTurn(data);
  };
  return {
    ensure,
    release: async (stopped) => {
      released = true;
      clearInterval(renewal);
      await last;
      // The pipe may have lost its reader.
      if (stopped) await held?.write(`${STOPPED}\n`).catch(() => undefined);
      await held?.close();
      held = undefined;
    },
  };
}

/** The pipe, where a watcher reads it. The folder may belong to another user, whose links root must not follow. */
async function openPipe({ path: folder }: DataDirectory): Promise<FileHandle | undefined> {
  const { O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  const flags = O_WRONLY | O_NONBLOCK | O_NOFOLLOW;
  try {
    const handle = await open(path.join(folder, PIPE), flags);
    if ((await handle.stat()).isFIFO()) return handle;
    await handle.close();
    throw new Error(`${path.join(folder, PIPE)} is not a pipe`);
  } catch (error) {
    // ENXIO: nobody reads the pipe.
    if (['ENOENT', 'ENXIO'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}

async function startWatcher(data: DataDirectory): Promise<FileHandle> {
  const watcher = spawn('/bin/sh', ['-c', WATCHER, 'fullmatch-watcher', data.path], {
    cwd: '/',
    env: { ...CHILD_ENVIRONMENT },
    stdio: ['pipe', 'ignore', 'ignore'],
    // A group of its own: a signal to this program's group leaves the watcher to do its work.
    detached: true,
    ...spawnAs(data.account),
  });
  let ended: string | undefined;
  watcher.once('error', (error) => (ended = error.message));
  watcher.once('exit', (code) => (ended = `it ended with exit code ${code ?? 'none'}`));
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
  try {
    const giveUpAt = Date.now() + WATCHER_TIMEOUT_MS;
    for (;;) {
      const pipe = await openPipe(data);
      if (pipe !== undefined) return pipe;
      if (ended !== undefined || Date.now() > giveUpAt)
        throw new Error(`the watcher did not start: ${ended ?? 'it takes too long'}`);
      await wait(POLL_MS);
    }
  } finally {
    watcher.stdin.end();
  }
}
