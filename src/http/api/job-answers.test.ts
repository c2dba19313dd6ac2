import { expect, test } from 'vitest';

import { createCheckedApiApp } from '../../../test/support/wire/checked-answers.ts';
import { fixtureDependencies, ROOMY_LIMITS } from '../../../test/support/http-fixture.ts';
import { RawClient, waitUntil } from '../../../test/support/raw-client.ts';
import { silentLogger } from '../../log.ts';
import { type VerificationJob } from '../../verification/jobs/verification-job.ts';
import { listen } from '../listener.ts';
import { RecordAnswers } from '../records/record-answers.ts';

const ID = '6f1c3d5e-0000-4000-8000-000000000001';
const CODE_BYTES = 12_000_000;

/** A failed job with codes that no buffer of a connection takes whole. */
const FAILED: VerificationJob = {
  id: ID,
  state: 'failed',
  chainId: 1,
  address: '0x00000000000000000000000000000000000000aa',
  createdAt: new Date(0),
  finishedAt: new Date(1),
  runtimeMatch: null,
  creationMatch: null,
  keptBeside: false,
  failure: {
    code: 'no_match',
    message: 'The codes differ.',
    id: ID,
    codes: { onchainRuntimeCode: `0x${'ab'.repeat(CODE_BYTES / 2)}` },
  },
};

test.each([`/v1/jobs/${ID}`, `/v2/verify/${ID}`])(
  'large answers about a job that a client does not take count for it: %s',
  async (path) => {
    const deps = await fixtureDependencies();
    let read = 0;
    const readJob = async () => {
      read += 1;
      return FAILED;
    };
    const limits = { bytes: 3 * CODE_BYTES, clientBytes: 1.5 * CODE_BYTES };
    const answers = new RecordAnswers({
      ...{ cacheBytes: 0, readers: 2, trustedProxies: [], version: '1.2.3' },
      limits,
    });
    const app = createCheckedApiApp({
      ...deps,
      answers,
      verification: { ...deps.verification, readJob },
    });
    const options = { host: '127.0.0.1', port: 0, limits: ROOMY_LIMITS };
    const listener = await listen(app, options, silentLogger);
    const [first, second] = [
      await RawClient.connect(listener.port),
      await RawClient.connect(listener.port),
    ];
    const ask = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    first.socket.pause();
    first.send(ask);
    await waitUntil(() => read > 0 && answers.held.bytes >= CODE_BYTES);
    second.send(ask);
    expect((await second.answer()).status).toBe(429);
    first.socket.destroy();
    // What the first held is given back once its end is heard of.
    const heardNext = async (): Promise<number> => {
      const next = await RawClient.connect(listener.port);
      next.send(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      await next.end();
      return next.heardBytes;
    };
    await expect.poll(heardNext).toBeGreaterThan(CODE_BYTES);
    second.socket.destroy();
    await listener.close(0);
  },
);
