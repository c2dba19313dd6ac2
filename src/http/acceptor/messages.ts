// Apart from the program of the process, which whoever imports it runs.

/** What the service says to its acceptor. Ports have numbers that the service gives them. */
export type ToAcceptor =
  | {
      readonly kind: 'listen';
      readonly id: number;
      readonly host: string;
      readonly port: number;
      readonly backlog: number;
    }
  | { readonly kind: 'close'; readonly id: number };

/** What the acceptor says; a `connection` comes with its socket. */
export type FromAcceptor =
  | { readonly kind: 'listening'; readonly id: number; readonly port: number }
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly code?: string;
      readonly message: string;
    }
  | { readonly kind: 'connection'; readonly id: number }
  | { readonly kind: 'closed'; readonly id: number };
