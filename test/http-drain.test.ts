import { setImmediate as untilNextTurn } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { describe, expect, test } from 'vitest';

import { createCheckedApiApp } from './support/wire/checked-answers.ts';
import { Documents } from '../src/publication/documents.ts';
import { listen, type Listener } from '../src/http/listener.ts';
import { silentLogger } from '../src/log.ts';
import { fixtureDependencies, ROOMY_LIMITS } from './support/http-fixture.ts';

const CLIENTS = 24;
const ROUNDS = 8;

async function start(port: number): Promise<{ listener: Listener; documents: Documents }> {
  const documents = new Documents(silentLogger, { brotliDelayMs: 0 });
  const deps = await fixtureDependencies({ documents });
  // Large enough that a response takes more than one write.
  const bytes = Buffer.from(JSON.stringify('x'.repeat(300_000)));
  await documents.publish({ chains: { bytes, lastModified: new Date(0) } });
  const options = { host: '127.0.0.1', port, limits: ROOMY_LIMITS };
  return { listener: await listen(createCheckedApiApp(deps), options, silentLogger), documents };
}

interface Load {
  readonly done: number;
  readonly refused: number;
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

/**
 * Clients that send requests continuously. Only failures on a connection that has already received a response
 * count; a first request can be retried safely, and a connection opened while the port closes may be refused
 * or reset.
 */
function putLoadOn(port: number): Load {
  const failures: string[] = [];
  const load = { done: 0, refused: 0, failures, stop: () => Promise.resolve() };
  let running = true;
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const agent = new Agent({ connections: 1 });
    let answered = 0;
    const begin = (): void => void (answered = 0);
    agent.on('connect', begin).on('connectionError', begin);
    const path = ['/chains', '/health', '/chains/eth'][index % 3]!;
    while (running) {
      try {
        const answer = await request(`http://127.0.0.1:${port}${path}`, { dispatcher: agent });
        await answer.body.arrayBuffer();
        answered += 1;
        if (answer.statusCode === 200) load.done += 1;
        else failures.push(String(answer.statusCode));
      } catch (error) {
        const { code } = error as { code?: string };
        if (answered === 0 || code === 'ECONNREFUSED') load.refused += 1;
        else failures.push(String(code ?? error));
        await untilNextTurn();
      }
    }
    await agent.close();
  });
  load.stop = async () => {
    running = false;
    await Promise.all(clients);
  };
  return load;
}

describe('a service that closes under load', () => {
  test('fails no request on kept-alive connections while others take its place', async () => {
    let current = await start(0);
    const { port } = current.listener;
    const load = putLoadOn(port);
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = load.done;
      await expect.poll(() => load.done).toBeGreaterThan(before + CLIENTS * 4);
      await current.listener.close(5_000);
      await current.documents.close();
      current = await start(port);
    }
    await load.stop();
    await current.listener.close(1_000);
    await current.documents.close();
    expect(load.failures).toEqual([]);
    expect(load.done).toBeGreaterThan(CLIENTS * 4 * ROUNDS);
  });
});
