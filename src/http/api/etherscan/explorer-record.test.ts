import { expect, test } from 'vitest';
import { readExplorerRecord } from './explorer-record.ts';

const LIMITS = {
  ...{ depth: 64, values: 2_000, escapes: 2_000 },
  ...{ sources: 20, sourceBytes: 100_000 },
};

test('a contract in Vyper of a Blockscout, which its file alone says, is read as one', () => {
  const record = {
    ...{ SourceCode: 'x: uint256', ContractName: 'Shelf', FileName: 'Shelf.vy' },
    ...{
      CompilerVersion: 'v0.4.3+commit.bff19ea2',
      CompilerSettings: {},
      OptimizationUsed: 'false',
    },
  };
  const answer = { status: '1', message: 'OK', result: [record] };
  expect(readExplorerRecord(Buffer.from(JSON.stringify(answer)), LIMITS)).toMatchObject({
    contractIdentifier: 'Shelf.vy:Shelf',
    input: { language: 'Vyper', sources: { 'Shelf.vy': { content: 'x: uint256' } } },
  });
});
