import { expect, test } from 'vitest';
import type { ContractSections } from '../../../repository/repository.ts';
import { renderSourceRecord } from './source-record.ts';

const A = `0x${'a1'.repeat(20)}`;
const B = `0x${'B2'.repeat(20)}`;

/** Returns the sections of a verified contract with libraries in its settings and in its bytecode. */
function sectionsOf(configured: object, linked: object): Partial<ContractSections> {
  const compilation = {
    ...{ language: 'solidity', version: '0.8.30+commit.73712a01', name: 'Main' },
    ...{ fullyQualifiedName: 'a.sol:Main', settings: { libraries: configured } },
  };
  const sections = { compilation, sources: [], runtimeCode: { values: { libraries: linked } } };
  return sections as unknown as Partial<ContractSections>;
}

test('lists same-named libraries of two files, each of them once', () => {
  const configured = { 'a.sol': { L: A }, 'b.sol': { L: B } };
  const linked = { 'a.sol:L': A, 'b.sol:L': B.toLowerCase(), 'c.sol:M': A };
  const { Library } = renderSourceRecord(sectionsOf(configured, linked), undefined);
  expect(Library).toBe(`L:${A};L:${B};M:${A}`);
});
