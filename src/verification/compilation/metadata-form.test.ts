import { expect, test } from 'vitest';
import { findMetadataChange, listMetadataChanges, withMetadata } from './metadata-form.ts';
import { type CompilationTask } from './compilation-task.ts';

const HASH = 'ab'.repeat(32);
const SOLC = '64736f6c634300081e';
/** Endings as solc writes them. */
const ENDINGS = {
  ipfs: `a264697066735822 1220${HASH}${SOLC}0033`,
  bzzr1: `a265627a7a72315820${HASH}${SOLC}0032`,
  none: `a1${SOLC}000a`,
  swarm0: `a165627a7a72305820${HASH}0029`,
  /** As 0.5.17 writes it by default. */
  otherVersion: `a265627a7a72315820${HASH}64736f6c63430005110032`,
  omitted: '',
};
const CODE = '6001600255fe';

const taskOf = (metadata: unknown, version = '0.8.30', language = 'solidity'): CompilationTask => ({
  ...{ language, version, target: { path: 'a.sol', name: 'A' } },
  input: { language: 'Solidity', sources: {}, settings: { ...(metadata ? { metadata } : {}) } },
});
const bytesOf = (ending: keyof typeof ENDINGS, after = ''): Buffer =>
  Buffer.from(`${CODE}${ENDINGS[ending]}${after}`.replaceAll(' ', ''), 'hex');
const changeFor = (ending: keyof typeof ENDINGS, ...given: Parameters<typeof taskOf>) =>
  findMetadataChange(taskOf(...given), bytesOf(ending));

test.each([
  ['ipfs', undefined, undefined],
  ['ipfs', { bytecodeHash: 'none' }, { bytecodeHash: 'ipfs' }],
  ['ipfs', { appendCBOR: false }, { appendCBOR: true, bytecodeHash: 'ipfs' }],
  ['bzzr1', undefined, { bytecodeHash: 'bzzr1' }],
  ['bzzr1', { bytecodeHash: 'bzzr1', useLiteralContent: true }, undefined],
  ['none', undefined, { bytecodeHash: 'none' }],
  ['none', { bytecodeHash: 'none' }, undefined],
  ['omitted', undefined, { appendCBOR: false }],
  ['omitted', { appendCBOR: false }, undefined],
  ['omitted', { bytecodeHash: 'ipfs' }, { appendCBOR: false, bytecodeHash: 'none' }],
  ['swarm0', undefined, undefined],
  ['otherVersion', undefined, undefined],
] as const)('code with %s and settings %j needs %j', (ending, given, change) => {
  expect(changeFor(ending, given)).toEqual(change);
});

test('bytes behind the metadata of a runtime code do not hide it', () => {
  expect(findMetadataChange(taskOf(undefined), bytesOf('ipfs', 'deadbeef'))).toBeUndefined();
});

const OMITTED = { appendCBOR: false };
const ARGUMENTS = '00'.repeat(64);
const INIT_CODE = bytesOf('none').toString('hex');

test.each([
  ['bzzr1', ARGUMENTS, [{ bytecodeHash: 'bzzr1' }, OMITTED, undefined]],
  ['ipfs', ARGUMENTS, [undefined, OMITTED]],
  ['ipfs', INIT_CODE, [{ bytecodeHash: 'none' }, undefined, OMITTED]],
  ['omitted', INIT_CODE, [{ bytecodeHash: 'none' }, OMITTED, undefined]],
  ['omitted', ARGUMENTS, [OMITTED, undefined]],
  ['otherVersion', ARGUMENTS, [undefined]],
] as const)('creation code with %s and arguments %s may need %j', (ending, after, changes) => {
  expect(listMetadataChanges(taskOf(undefined), bytesOf(ending, after))).toEqual(changes);
});

test.each([
  ['texts that claim the rest of the code', 'a17affffffff'],
  ['texts that claim what is left', 'a17a0000ffff'],
  ['entries of an auxdata', SOLC],
  ['entries that state a long map', `${SOLC}00ff`],
  ['maps with a second entry that is none', `a2${SOLC}ff00000a`],
])('a megabyte of %s is read in linear time', (_what, part) => {
  const bytes = Buffer.from(part.repeat(2_000_000 / part.length), 'hex');
  expect(listMetadataChanges(taskOf(undefined), bytes)).toEqual([OMITTED, undefined]);
  expect(findMetadataChange(taskOf(undefined), bytes)).toEqual(OMITTED);
});

test.each([
  ['none', '0.5.17', 'solidity'],
  ['omitted', '0.8.17', 'solidity'],
  ['omitted', '0.8.30', 'yul'],
  ['omitted', '0.8.30', 'vyper'],
] as const)('nothing changes for %s of %s in %s', (ending, version, language) => {
  expect(changeFor(ending, undefined, version, language)).toBeUndefined();
});

test('a change keeps the other settings', () => {
  const { input } = withMetadata(taskOf({ useLiteralContent: true }), { bytecodeHash: 'none' });
  expect(input.settings).toEqual({ metadata: { useLiteralContent: true, bytecodeHash: 'none' } });
});
