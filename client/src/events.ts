import { readAnswer } from './request.ts';
import { type MatchEvent, type RegistryEvent } from './schemas.ts';

/** What the service tells. `reset`: events may have been missed that it does not know any more. */
export type ServiceEvent = {
  /** Asked for with it, the events go on behind this one. */
  lastEventId: string;
} & (
  | { type: 'match'; data: MatchEvent }
  | { type: 'registry'; data: RegistryEvent }
  | { type: 'reset' }
);

/** Where the events begin: behind those that a `lastEventId` stands for, else now; and a signal that ends them. */
export interface EventQuestion {
  lastEventId?: string;
  signal?: AbortSignal;
}

/** How long to wait before coming back where the service has not said it. */
const RETRY_MS = 3000;

/**
 * Reads `/v1/events` (Server-Sent Events, HTML standard, 9.2) without end. Where the connection is lost, or the service
 * refuses for the moment, it comes back with the id of the last event and goes on, telling no event twice.
 */
export async function* followEvents(
  request: typeof fetch,
  url: string,
  { lastEventId = '', signal }: EventQuestion,
): AsyncGenerator<ServiceEvent, never> {
  let id = lastEventId;
  let retryMs = RETRY_MS;
  /** Events beyond the number that the id begins with: the service tells these again. */
  let told = new Set<string>();
  for (;;) {
    for await (const block of readBlocks(request, url, id, signal)) {
      retryMs = Number(block.get('retry') ?? retryMs);
      id = block.get('id') ?? id;
      const settled = BigInt(id.split('-')[0] ?? '');
      told = new Set([...told].filter((number) => BigInt(number) > settled));
      const type = block.get('event');
      if (type === undefined) continue;
      const data: unknown = JSON.parse(block.get('data') ?? '{}');
      if (type === 'match') {
        const { eventNumber } = data as MatchEvent;
        if (told.has(eventNumber)) continue;
        told.add(eventNumber);
      } else if (type === 'reset') told.clear();
      yield { type, data, lastEventId: id } as ServiceEvent;
    }
    await pause(retryMs, signal);
  }
}

/** The fields of each block of one connection. It ends without an error where another connection may go on. */
async function* readBlocks(
  request: typeof fetch,
  url: string,
  lastEventId: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReadonlyMap<string, string>> {
  const response = await request(url, {
    headers: {
      accept: 'text/event-stream',
      ...(lastEventId !== '' && { 'last-event-id': lastEventId }),
    },
    ...(signal && { signal }),
  }).catch(endUnlessAborted(signal));
  if (response === undefined) return;
  if (response.status >= 500) {
    await response.body?.cancel();
    return;
  }
  if (!response.ok || response.body === null) {
    await readAnswer(url, response);
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (;;) {
      const chunk = await reader.read().catch(endUnlessAborted(signal));
      if (chunk?.value === undefined) return;
      const blocks = (text + chunk.value).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) yield fieldsOf(block);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The service writes a field's data in one line. */
function fieldsOf(block: string): ReadonlyMap<string, string> {
  return new Map(
    block.split('\n').map((line) => {
      const [name = '', value = ''] = line.split(/: ?(.*)/s);
      return [name, value];
    }),
  );
}

const endUnlessAborted =
  (signal: AbortSignal | undefined) =>
  (error: unknown): undefined => {
    if (signal?.aborted === true) throw error;
  };

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', end, { once: true });
  });
}
