import { expect, test } from 'vitest';
import { findMetadataChange, withMetadata } from './metadata-form.ts';
import { type CompilationTask } from './compilation-task.ts';

const HASH = 'ab'.repeat(32);
const SOLC = '64736f6c634300081e';
/** Endings as solc writes them. */
const ENDINGS = {
  ipfs: `a264697066735822 1220${HASH}${SOLC}0033`,
  bzzr1: `a265627a7a72315820${HASH}${SOLC}0032`,
  none: `a1${SOLC}000a`,
  swarm0: `a165627a7a72305820${HASH}0029`,
  nothing: '',
};
const CODE = '6001600255fe';

const taskOf = (metadata: unknown, version = '0.8.30', language = 'solidity'): CompilationTask => ({
  ...{ language, version, target: { path: 'a.sol', name: 'A' } },
  input: { language: 'Solidity', sources: {}, settings: { ...(metadata ? { metadata } : {}) } },
});
const bytesOf = (ending: keyof typeof ENDINGS, after = ''): Uint8Array =>
  Buffer.from(`${CODE}${ENDINGS[ending]}${after}`.replaceAll(' ', ''), 'hex');
const changeFor = (ending: keyof typeof ENDINGS, ...given: Parameters<typeof taskOf>) =>
  findMetadataChange(taskOf(...given), { bytes: bytesOf(ending), isCreation: false });

test.each([
  ['ipfs', undefined, undefined],
  ['ipfs', { bytecodeHash: 'none' }, { bytecodeHash: 'ipfs' }],
  ['ipfs', { appendCBOR: false }, { appendCBOR: true, bytecodeHash: 'ipfs' }],
  ['bzzr1', undefined, { bytecodeHash: 'bzzr1' }],
  ['bzzr1', { bytecodeHash: 'bzzr1', useLiteralContent: true }, undefined],
  ['none', undefined, { bytecodeHash: 'none' }],
  ['none', { bytecodeHash: 'none' }, undefined],
  ['nothing', undefined, { appendCBOR: false }],
  ['nothing', { appendCBOR: false }, undefined],
  ['nothing', { bytecodeHash: 'ipfs' }, { appendCBOR: false, bytecodeHash: 'none' }],
  ['swarm0', undefined, undefined],
] as const)('code with %s and settings %j needs %j', (ending, given, change) => {
  expect(changeFor(ending, given)).toEqual(change);
});

test('constructor arguments may follow the metadata of creation code', () => {
  const bytes = bytesOf('bzzr1', '00'.repeat(64));
  expect(findMetadataChange(taskOf(undefined), { bytes, isCreation: true })).toEqual({
    bytecodeHash: 'bzzr1',
  });
});

test.each([
  ['none', '0.5.17', 'solidity'],
  ['nothing', '0.8.17', 'solidity'],
  ['nothing', '0.8.30', 'yul'],
  ['nothing', '0.8.30', 'vyper'],
] as const)('nothing changes for %s of %s in %s', (ending, version, language) => {
  expect(changeFor(ending, undefined, version, language)).toBeUndefined();
});

test('a change keeps the other settings, in both inputs of a task', () => {
  const task = taskOf({ useLiteralContent: true });
  const { input, withAllSources } = withMetadata(
    { ...task, withAllSources: task.input },
    { bytecodeHash: 'none' },
  );
  const settings = { metadata: { useLiteralContent: true, bytecodeHash: 'none' } };
  expect([input.settings, withAllSources?.settings]).toEqual([settings, settings]);
});
