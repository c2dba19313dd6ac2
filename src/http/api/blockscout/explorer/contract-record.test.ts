import { expect, test } from 'vitest';
import { type ContractMatch, type ContractSections } from '../../../../repository/repository.ts';
import { renderBlockscoutRecord, renderSmartContract } from './contract-record.ts';

const MATCH: ContractMatch = {
  ...{ chainId: 1, address: `0x${'11'.repeat(20)}`, origin: 'verified' },
  ...{ match: 'full', runtimeMatch: 'full', creationMatch: 'full' },
  ...{ verifiedAt: new Date(0), firstVerifiedAt: new Date(0) },
};
const DETAILS = { peephole: true, jumpdestRemover: true, inliner: false, cse: true, yul: false };

const sectionsOf = (language: string, optimizer: object): Partial<ContractSections> => ({
  compilation: {
    ...{ language, compiler: 'solc', version: '0.8.30', settings: { optimizer } },
    ...{ name: 'A', fullyQualifiedName: 'a.sol:A' },
  },
  sources: [{ path: 'a.sol', content: 'contract A {}' }] as ContractSections['sources'],
});

test.each([
  ['solidity', { enabled: true, runs: 7 }, true, 'true'],
  ['solidity', { enabled: false, runs: 7 }, false, 'false'],
  // Metadata omits `enabled` if there are details.
  ['solidity', { runs: 7, details: DETAILS }, true, 'true'],
  ['solidity', { runs: 7, details: { ...DETAILS, cse: false } }, false, 'false'],
  ['vyper', {}, null, 'false'],
])('reports %s with optimizer %j as optimized: %s', (language, optimizer, enabled, used) => {
  const sections = sectionsOf(language, optimizer);
  expect(renderSmartContract(MATCH, sections).optimization_enabled).toBe(enabled);
  expect(renderBlockscoutRecord(MATCH, sections, undefined)).toMatchObject({
    OptimizationUsed: used,
  });
});
