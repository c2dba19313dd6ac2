import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { saveMatch } from '../../src/repository/save-matches.ts';
import { bootService, type BootedService } from '../../test/support/booted-service.ts';
import { sampleAddress, sampleContract } from '../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import { createFullmatchClient, FullmatchRequestError } from '../src/index.ts';

let testDatabase: TestDatabase;
let service: BootedService;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  await saveMatch(
    testDatabase.database,
    sampleContract(1, sampleAddress(1), { runtimeMatch: 'full' }),
  );
  service = await bootService({ databaseUrl: testDatabase.url });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

describe('the client', () => {
  test('reads both documents, and closing slashes in its URLs do not matter', async () => {
    const client = createFullmatchClient({
      apiUrl: `${service.apiUrl}/server//`,
      repositoryUrl: `${service.repositoryUrl}/`,
    });
    expect((await client.chains()).find(({ chainId }) => chainId === 1)?.shortName).toBe('eth');
    expect(await client.statistics()).toEqual({ '1': { full_match: 1, partial_match: 0 } });
  });

  test.each([1, '1', '0x1', 'eip155:1', 'eth'])('finds a chain by %s', async (reference) => {
    const client = createFullmatchClient(service);
    expect((await client.chain(reference))?.chainId).toBe(1);
  });

  test('says undefined of a chain that the service does not know, and throws for a reference that is none', async () => {
    const client = createFullmatchClient(service);
    expect(await client.chain(999_999_999_999)).toBeUndefined();
    await expect(client.chain('0x00ffffffffffffffffffffff')).rejects.toBeInstanceOf(
      FullmatchRequestError,
    );
  });

  test('gives the code of a problem, and refuses what is no JSON', async () => {
    const client = createFullmatchClient({
      apiUrl: `${service.apiUrl}/nowhere`,
      repositoryUrl: `${service.apiUrl}/healthz?`,
    });
    await expect(client.chains()).rejects.toMatchObject({ status: 404, code: 'route_not_found' });
    await expect(client.statistics()).rejects.toMatchObject({ status: 200, code: undefined });
  });

  test('ends when its signal says so', async () => {
    const client = createFullmatchClient(service);
    await expect(client.chains({ signal: AbortSignal.abort() })).rejects.toThrow();
  });
});
