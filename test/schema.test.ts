import { expect, test } from 'vitest';
import { dumpSchema } from './support/dump-schema.ts';
import { createTestDatabase } from './support/test-database.ts';

test('the committed schema dump equals the result of the migrations', async () => {
  const testDatabase = await createTestDatabase();
  try {
    await expect(await dumpSchema(testDatabase.database)).toMatchFileSnapshot(
      '../migrations/schema.sql',
    );
  } finally {
    await testDatabase.drop();
  }
});
