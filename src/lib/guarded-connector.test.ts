import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWebServer, type WebServer } from '../../test/support/web-server.ts';
import { createGuardedConnector } from './guarded-connector.ts';

describe('Connector without prior checks', () => {
  let canary: WebServer;
  beforeAll(async () => {
    canary = await startWebServer((_request, response) => response.end());
  });
  afterAll(() => canary.close());

  function connect(hostname: string, allowed: readonly string[] = []): Promise<string> {
    const connector = createGuardedConnector({
      allowed: new Set(allowed),
      connectTimeoutMs: 2000,
      resolve: async () => ['127.0.0.1', '::1', 'no address'],
    });
    return new Promise((resolve) => {
      connector({ hostname, protocol: 'http:', port: String(canary.port) }, (error, socket) => {
        socket?.destroy();
        resolve(error === null ? 'connected' : ((error as { code?: string }).code ?? 'no code'));
      });
    });
  }

  test.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', 'a.example', '127.1', '0'])(
    'does not connect to %s',
    async (hostname) => {
      expect(await connect(hostname)).toBe('address_not_allowed');
      expect(await connect(hostname, ['127.0.0.1:1', `b.example:${canary.port}`])).toBe(
        'address_not_allowed',
      );
      expect(canary.connections()).toBe(0);
    },
  );

  test('connects to allowed targets', async () => {
    const { port } = canary;
    expect(await connect('127.0.0.1', [`127.0.0.1:${port}`])).toBe('connected');
    expect(await connect('a.example', [`a.example:${port}`])).toBe('connected');
    expect(await connect('::ffff:127.0.0.1', [`[::ffff:127.0.0.1]:${port}`])).toBe('connected');
  });
});
