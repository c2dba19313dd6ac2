import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { CountedLine } from '../../lib/counted-line.ts';
import { programFile } from '../../lib/program-file.ts';
import { type Logger } from '../../log.ts';
import { LOST_WARNING, type FromAcceptor, type ToAcceptor } from './messages.ts';

/** Where to accept connections. */
export interface AcceptedPlace {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Connections that the kernel holds until they are accepted. */
  readonly backlog: number;
}

/** A port that is open. */
export interface AcceptedPort {
  readonly port: number;
  /** Closes the port; resolves when all connections that had been accepted have been handed over. */
  close(): Promise<void>;
}

interface Port {
  /** With the port that was found free, so that it is the same again after the process was lost. */
  place: AcceptedPlace;
  /** Whether it was open once: then it opens again after its process was lost. */
  wasOpen: boolean;
  /** Whether a process has it open now. */
  isOpen: boolean;
  readonly take: (socket: Socket) => void;
  readonly opened: (port: number) => void;
  readonly failed: (error: Error) => void;
  /** Set while it closes. */
  closed?: () => void;
}

/** The process holds sockets, and nothing of what they send. */
const HEAP_MIB = 64;
const START_AGAIN_MS = 100;
const LISTEN_AGAIN_MS = 1_000;
const END_TIMEOUT_MS = 1_000;

/**
 * Accepts connections in a process of its own, and hands them over one of each network after the other, as fast as this
 * process takes them. A turn of Node's event loop accepts one connection (libuv), in the order in which the kernel has
 * them: a client that connects while others bring much work would wait behind all of them before anybody knows its address.
 * Where more connections wait than may, the network with most of them loses one, see `FairShares`.
 *
 * Should the process be lost, connections that are open stay, and another one opens the same ports.
 */
export class Acceptor {
  readonly #log: Logger;
  readonly #ports = new Map<number, Port>();
  readonly #lost: CountedLine;
  #child: ChildProcess;
  #ids = 0;
  #isClosed = false;

  constructor(log: Logger) {
    this.#log = log;
    this.#lost = new CountedLine((connections) =>
      log.warn(
        { event: 'connections_lost', connections },
        'no descriptors are left for connections; allow more open files (LimitNOFILE or ulimit -n)',
      ),
    );
    this.#child = this.#start();
  }

  /** Opens a port. @throws NodeJS.ErrnoException as `net.Server` does where it cannot be opened */
  async listen(place: AcceptedPlace, take: (socket: Socket) => void): Promise<AcceptedPort> {
    const id = (this.#ids += 1);
    const port = await new Promise<number>((opened, failed) => {
      this.#ports.set(id, { place, wasOpen: false, isOpen: false, take, opened, failed });
      say(this.#child, { kind: 'listen', id, ...place });
    });
    return { port, close: () => this.#closePort(id) };
  }

  /** Ends the process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#lost.close();
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.stdin?.destroy();
    const timer = setTimeout(() => child.kill('SIGKILL'), END_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
  }

  #start(): ChildProcess {
    const child = fork(programFile(new URL('./acceptor-process.ts', import.meta.url)), [], {
      cwd: '/',
      env: {},
      execArgv: [`--max-old-space-size=${HEAP_MIB}`, `--disable-warning=${LOST_WARNING}`],
      stdio: ['pipe', 'ignore', 'inherit', 'ipc'],
    });
    child.stdin?.on('error', () => undefined);
    child.on('message', (message: FromAcceptor, socket?: Socket) => {
      if (message.kind === 'lost') {
        this.#lost.count();
        return;
      }
      this.#hear(message, socket);
      if (message.kind === 'connection') {
        say(child, { kind: 'taken', connection: message.connection });
      }
    });
    child.on('error', (error) => this.#log.error({ event: 'acceptor_failed', err: error }));
    child.once('exit', (code, signal) => void this.#replace(code, signal));
    return child;
  }

  #hear(message: Exclude<FromAcceptor, { kind: 'lost' }>, socket: Socket | undefined): void {
    const port = this.#ports.get(message.id);
    if (port === undefined) {
      socket?.destroy();
      // It was closed while another process took the place of the one that held it.
      if (message.kind === 'listening') say(this.#child, { kind: 'close', id: message.id });
      return;
    }
    switch (message.kind) {
      case 'connection':
        // The connection may have gone on its way.
        if (socket !== undefined) port.take(socket);
        break;
      case 'listening':
        port.place = { ...port.place, port: message.port };
        port.wasOpen = true;
        port.isOpen = true;
        port.opened(message.port);
        break;
      case 'failed':
        this.#hearFailure(message, port);
        break;
      case 'closed':
        this.#ports.delete(message.id);
        port.closed?.();
        break;
    }
  }

  #hearFailure({ id, code, message }: Extract<FromAcceptor, { kind: 'failed' }>, port: Port): void {
    if (!port.wasOpen) {
      this.#ports.delete(id);
      port.failed(Object.assign(new Error(message), code !== undefined && { code }));
      return;
    }
    // Somebody else may hold the port only for a moment.
    this.#log.error({ event: 'port_lost', port: port.place.port, reason: code }, message);
    setTimeout(() => {
      if (this.#ports.get(id) === port) say(this.#child, { kind: 'listen', id, ...port.place });
    }, LISTEN_AGAIN_MS).unref();
  }

  #closePort(id: number): Promise<void> {
    const port = this.#ports.get(id);
    // Where no process has it open, nothing is to be handed over.
    if (port?.isOpen !== true) {
      this.#ports.delete(id);
      return Promise.resolve();
    }
    return new Promise((closed) => {
      port.closed = closed;
      say(this.#child, { kind: 'close', id });
    });
  }

  async #replace(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    if (this.#isClosed) return;
    this.#log.error({ event: 'acceptor_ended', code, signal }, 'another one takes its place');
    for (const [id, port] of this.#ports) {
      port.isOpen = false;
      if (port.wasOpen && port.closed === undefined) continue;
      this.#ports.delete(id);
      port.closed?.();
      port.failed(new Error('the process that accepts connections ended'));
    }
    await wait(START_AGAIN_MS);
    if (this.#isClosed) return;
    this.#child = this.#start();
    for (const [id, { place }] of this.#ports) say(this.#child, { kind: 'listen', id, ...place });
  }
}

function say(child: ChildProcess, message: ToAcceptor): void {
  // Where it has gone, its end is told of.
  child.send(message, () => undefined);
}
