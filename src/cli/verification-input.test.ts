import { expect, test } from 'vitest';
import { decodeText } from './verification-input.ts';

const TEXT = '{"language":"Solidity","name":"Zähler"}';

test('a file is read in UTF-8, and in UTF-16 where its mark says so', () => {
  const little = Buffer.from(`\ufeff${TEXT}`, 'utf16le');
  const big = Buffer.from(little).swap16();
  for (const bytes of [Buffer.from(TEXT), little, big]) expect(decodeText(bytes)).toBe(TEXT);
});
