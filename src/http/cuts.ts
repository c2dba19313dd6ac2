import { type Socket } from 'node:net';

/** Ending a connection ends all of its requests, each with an error of its own. */
const CUTS_OF_A_PASS = 20;

/** Cuts connections, a few in each pass of the event loop: very many may be due at once. */
export class Cuts {
  readonly #waiting = new Set<Pick<Socket, 'destroy'>>();

  /** Cuts a connection soon. @returns whether it did not wait for that already. */
  add(socket: Pick<Socket, 'destroy'>): boolean {
    if (this.#waiting.has(socket)) return false;
    if (this.#waiting.size === 0) setImmediate(() => this.#pass());
    this.#waiting.add(socket);
    return true;
  }

  #pass(): void {
    let left = CUTS_OF_A_PASS;
    for (const socket of this.#waiting) {
      this.#waiting.delete(socket);
      socket.destroy();
      left -= 1;
      if (left === 0) break;
    }
    if (this.#waiting.size > 0) setImmediate(() => this.#pass());
  }
}
