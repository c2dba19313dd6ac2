import { expect, test } from 'vitest';
import { dumpSchema } from './support/dump-schema.ts';
import { createTestDatabase } from './support/test-database.ts';

test('the committed schema dump is what the migrations give', async () => {
  const { database, drop } = await createTestDatabase();
  try {
    await expect(await dumpSchema(database)).toMatchFileSnapshot('../migrations/schema.sql');
  } finally {
    await drop();
  }
});
