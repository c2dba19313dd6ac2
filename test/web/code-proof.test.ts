import { expect, test } from 'vitest';
import { proofOf } from '../../web/src/contract/code-proof.ts';

/** Bytes 00 to 1f. */
const CODE = `0x${Array.from({ length: 32 }, (_, byte) => byte.toString(16).padStart(2, '0')).join('')}`;
const wire = (
  transformations: readonly object[],
  transformationValues: object = {},
): Parameters<typeof proofOf>[0] =>
  ({
    onchainBytecode: CODE,
    transformations,
    transformationValues,
  }) as unknown as Parameters<typeof proofOf>[0];

test('a marked location has the eight bytes on each side in the code on chain', () => {
  const proof = proofOf(
    wire([{ type: 'replace', reason: 'immutable', offset: 10, id: '7' }], {
      immutables: { 7: '0x0a0b' },
    }),
    new Map([['7', 'owner']]),
  );
  expect(proof).toMatchObject({ bytes: 32, more: 0 });
  expect(proof?.places).toEqual([
    {
      ...{ type: 'replace', reason: 'immutable', offset: 10, length: 2, id: 'owner' },
      ...{ value: '0x0a0b', before: '0203040506070809', after: '0c0d0e0f10111213' },
    },
  ]);
});

test('a location at an end of the code has fewer bytes around it', () => {
  const proof = proofOf(
    wire(
      [
        { type: 'replace', reason: 'cborAuxdata', offset: 2, id: '1' },
        { type: 'insert', reason: 'constructorArguments', offset: 31 },
      ],
      { cborAuxdata: { 1: '0x0203' }, constructorArguments: '0x1f' },
    ),
    new Map(),
  );
  expect(proof?.places).toMatchObject([
    { before: '0001', after: '0405060708090a0b' },
    { before: '1718191a1b1c1d1e', after: '' },
  ]);
});

test('bytes of the compiler output that are not on chain leave the bytes around them', () => {
  const proof = proofOf(
    wire([{ type: 'delete', reason: 'cborAuxdata', offset: 16, length: 5, id: '1' }]),
    new Map(),
  );
  expect(proof?.places).toMatchObject([
    { length: 5, before: '08090a0b0c0d0e0f', after: '1011121314151617' },
  ]);
});
