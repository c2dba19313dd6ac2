import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';

import { NO_SHARED_DATA, sharedData } from '../../../test/support/shared-data.ts';
import { statisticsJsonSchema, statisticsSchema } from './statistics-schema.ts';

const validate = new Ajv2020({ strict: true }).compile(statisticsJsonSchema);
const counts = { full_match: 1, partial_match: 0 };

/** Validates a value, and checks that both forms of the schema agree. */
function isValid(value: unknown): boolean {
  const byJsonSchema = validate(value);
  expect(statisticsSchema.safeParse(value).success).toBe(byJsonSchema);
  return byJsonSchema;
}

describe('Published schema of stats.json', () => {
  test.each([
    {},
    { '1': counts },
    { '1': counts, '2716446429837000': counts },
    { '5': { full_match: 0, partial_match: 0 } },
  ])('accepts %j', (value) => {
    expect(isValid(value)).toBe(true);
  });

  test.each([
    [],
    null,
    { '01': counts },
    { '0': counts },
    { '-1': counts },
    { '1e3': counts },
    { '0x1': counts },
    { eth: counts },
    { '1': { full_match: 1 } },
    { '1': { full_match: 1, partial_match: 0, extra: 1 } },
    { '1': { full_match: -1, partial_match: 0 } },
    { '1': { full_match: 1.5, partial_match: 0 } },
    { '1': { full_match: '1', partial_match: 0 } },
    { '1': { full_match: null, partial_match: 0 } },
  ])('rejects %j', (value) => {
    expect(isValid(value)).toBe(false);
  });

  test.for(['stats-2022-09.json', 'stats-2026-08-22.json'])(
    'accepts the real document %s',
    (name, { skip }) => {
      const document = sharedData(name);
      if (document === undefined) skip(NO_SHARED_DATA);
      expect(isValid(document)).toBe(true);
    },
  );
});
