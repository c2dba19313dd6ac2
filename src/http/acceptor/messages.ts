// Apart from the program of the process, which whoever imports it runs.

/** With this warning Node gives a connection up that the service could not receive. */
export const LOST_WARNING = 'SentHandleNotReceivedWarning';

/** What the service says to its acceptor. Ports have numbers that the service gives them. */
export type ToAcceptor =
  | {
      readonly kind: 'listen';
      readonly id: number;
      readonly host: string;
      readonly port: number;
      readonly backlog: number;
    }
  | { readonly kind: 'close'; readonly id: number }
  /** The service has taken a connection. */
  | { readonly kind: 'taken'; readonly connection: number };

/** What the acceptor says; a `connection` comes with its socket, and with a number of its own. */
export type FromAcceptor =
  | { readonly kind: 'listening'; readonly id: number; readonly port: number }
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly code?: string;
      readonly message: string;
    }
  | { readonly kind: 'connection'; readonly id: number; readonly connection: number }
  /** A connection did not reach the service: it could open no more descriptors. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'closed'; readonly id: number };
