import { expect, test } from 'vitest';
import { sampleAddress } from '../../../test/support/sample-contracts.ts';
import { createTestDatabase } from '../../../test/support/test-database.ts';
import { sql } from '../../store/database.ts';
import { submitJob } from '../jobs/submit-job.ts';
import { packRequest } from '../verification-request.ts';
import { releaseForwarding, leaseDueForwarding } from './forwarded-matches.ts';

test('a handed-back match is due at once, as if never claimed', async () => {
  const testDatabase = await createTestDatabase();
  const { database } = testDatabase;
  const compilation = { kind: 'metadata', metadata: {}, sources: { a: 'x' } } as const;
  const request = packRequest({ chainId: 7, address: sampleAddress(1), compilation });
  const jobId = await submitJob(database, request, 'a', { total: 10, perClient: 10 });
  const add = sql(
    'test add',
    `INSERT INTO external_verifications (job_id, explorer) VALUES ($1, 'etherscan')`,
  );
  await database.query(add, [jobId]);
  const taken = await leaseDueForwarding(database, 60_000);
  expect(taken).toMatchObject({ jobId, attempts: 1 });
  expect(await leaseDueForwarding(database, 60_000)).toBeUndefined();
  await releaseForwarding(database, taken!);
  expect(await leaseDueForwarding(database, 60_000)).toEqual(taken);
  // Once another attempt has begun, a hand-back of the earlier one has no effect.
  await releaseForwarding(database, { ...taken!, attempts: 7 });
  expect(await leaseDueForwarding(database, 60_000)).toBeUndefined();
  await testDatabase.drop();
});
