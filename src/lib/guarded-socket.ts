import { type IncomingHttpHeaders } from 'node:http';
import { Agent, type buildConnector, DecoratorHandler, type Dispatcher, WebSocket } from 'undici';

/** A message to a WebSocket endpoint, and the limits of the response. */
export interface Exchange {
  /** `ws:` or `wss:`, without user information. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly message: string;
  /** Size limit of the decompressed response in bytes; exceeding it closes the connection. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Checks the address and makes the connection. */
  readonly connect: buildConnector.connector;
}

/** The outcome of an exchange: the message, or the HTTP response that rejected the handshake. */
export type ExchangeAnswer =
  | { readonly message: Buffer }
  | { readonly message?: undefined; readonly refusal: HandshakeRefusal };

interface HandshakeRefusal {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** JSON-RPC responses are messages of one or a few fragments. */
const MAX_FRAGMENTS = 1024;

/**
 * Sends one message over a new WebSocket (RFC 6455) and returns the first message received, as bytes.
 * Redirects are not followed.
 * @throws FetchFault of the connector; an Error with `code` if the handshake failed or no message within the
 * size limit arrived; the reason of `signal`.
 */
export async function exchangeMessage(exchange: Exchange): Promise<ExchangeAnswer> {
  const { url, headers, message, maxBytes, signal } = exchange;
  signal.throwIfAborted();
  // Error events of a WebSocket contain no details, so the connector's fault is recorded separately.
  let fault: Error | undefined;
  let refusal: HandshakeRefusal | undefined;
  const agent = new Agent({
    connect: (options, callback) =>
      exchange.connect(options, (...result) => {
        fault = result[0] ?? undefined;
        callback(...result);
      }),
    webSocket: { maxPayloadSize: maxBytes, maxFragments: MAX_FRAGMENTS },
  });
  const dispatcher = agent.compose(
    (dispatch) => (options, handler) =>
      dispatch(
        options,
        watchResponse(handler, (response) => (refusal = response)),
      ),
  );
  const failure = (code: string): Error => Object.assign(new Error(code), { code });
  let follow: (() => void) | undefined;
  try {
    return await new Promise<ExchangeAnswer>((resolve, reject) => {
      follow = () => reject(signal.reason as Error);
      signal.addEventListener('abort', follow, { once: true });
      const socket = new WebSocket(url, { dispatcher, headers: { ...headers } });
      socket.binaryType = 'arraybuffer';
      let opened = false;
      socket.addEventListener('open', () => {
        opened = true;
        socket.send(message);
      });
      socket.addEventListener('message', ({ data }) => resolve({ message: Buffer.from(data) }));
      socket.addEventListener('close', () => {
        if (refusal !== undefined) resolve({ refusal });
        else reject(fault ?? failure(opened ? 'NO_MESSAGE' : 'NO_HANDSHAKE'));
      });
    });
  } finally {
    if (follow !== undefined) signal.removeEventListener('abort', follow);
    await agent.destroy();
  }
}

/** Wraps a handler to report the response to its handshake; a successful handshake has none. */
function watchResponse(
  handler: Dispatcher.DispatchHandler,
  onResponse: (response: HandshakeRefusal) => void,
): Dispatcher.DispatchHandler {
  const watched: Dispatcher.DispatchHandler = new DecoratorHandler(handler);
  const pass = watched.onResponseStart?.bind(watched);
  watched.onResponseStart = (...start) => {
    const [, status, headers] = start;
    onResponse({ status, headers });
    pass?.(...start);
  };
  return watched;
}
