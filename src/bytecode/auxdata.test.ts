import { describe, expect, test } from 'vitest';
import { AUXDATA_FORMS } from '../../test/support/bytecode/made-up-code.ts';
import { readAuxdataAt, readTrailingAuxdata } from './auxdata.ts';

const HASH = 'c0'.repeat(32);
const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
const auxdataOf = (form: string): Buffer => bytes(AUXDATA_FORMS[form]?.(HASH) ?? '');
/** A map followed by its length. */
const withLength = (map: string): Buffer =>
  bytes(map + (map.length / 2).toString(16).padStart(4, '0'));
const IPFS = `646970667358221220${HASH}`;

describe('readAuxdataAt', () => {
  test.each([
    ['0.4.7', { metadataHash: { kind: 'bzzr0', offset: 9 } }],
    ['0.4.18 experimental', { metadataHash: { kind: 'bzzr0', offset: 9 }, experimental: true }],
    ['0.5.9', { metadataHash: { kind: 'bzzr0', offset: 9 }, solc: '0.5.9' }],
    ['0.5.12', { metadataHash: { kind: 'bzzr1', offset: 9 }, solc: '0.5.12' }],
    [
      '0.5.12 experimental',
      { metadataHash: { kind: 'bzzr1', offset: 9 }, experimental: true, solc: '0.5.12' },
    ],
    ['0.6.0', { metadataHash: { kind: 'ipfs', offset: 10 }, solc: '0.6.0' }],
    [
      'between releases',
      { metadataHash: { kind: 'ipfs', offset: 10 }, solc: '0.8.20-develop.2023.5.10+abcd' },
    ],
    ['hashless', { solc: '0.8.20' }],
  ])("reads solc's auxdata: %s", (form, expected) => {
    const auxdata = auxdataOf(form);
    expect(readAuxdataAt(auxdata, 0)).toEqual({ length: auxdata.length, ...expected });
    const within = Buffer.concat([bytes('6001'), auxdata, bytes('6002')]);
    expect(readAuxdataAt(within, 2)).toEqual({ length: auxdata.length, ...expected });
  });

  test("reads Solar's auxdata with Solar's version", () => {
    const release = withLength(`a2${IPFS}65736f6c617243000300`);
    const metadataHash = { kind: 'ipfs', offset: 10 };
    expect(readAuxdataAt(release, 0)).toEqual({ length: 54, metadataHash, solar: '0.3.0' });
    const dev = withLength('a165736f6c617269302e342e302d646576');
    expect(readAuxdataAt(dev, 0)).toEqual({ length: 19, solar: '0.4.0-dev' });
  });

  test.each([
    ['an empty map', withLength('a0')],
    ['a key that solc does not write', withLength('a163666f6f01')],
    ['a key of bytes', withLength(`a1446970667358221220${HASH}`)],
    ['a key twice', withLength(`a264736f6c634300081464736f6c6343000814`)],
    ['two metadata hashes', withLength(`a2${IPFS}65627a7a72315820${HASH}`)],
    ['an IPFS hash that is not a SHA2-256 multihash', withLength(`a1646970667358221320${HASH}`)],
    ['a Swarm hash of 31 bytes', withLength(`a165627a7a7231581f${HASH.slice(2)}`)],
    ['a version of two bytes', withLength('a164736f6c63420008')],
    ['a version that is a number', withLength('a164736f6c6308')],
    ['experimental that is not a boolean', withLength('a16c6578706572696d656e74616c01')],
    ['a map without end', withLength(`bf${IPFS}ff`)],
    ['a length in more bytes than it needs', withLength(`a164697066735900221220${HASH}`)],
    ['more entries than it says', withLength(`a1${IPFS}64736f6c6343000814`)],
    ['fewer entries than it says', withLength(`a2${IPFS}`)],
    ['a wrong length behind it', bytes(`a1${IPFS}0033`)],
    ['no length behind it', bytes(`a1${IPFS}`)],
    ['half a length behind it', bytes(`a1${IPFS}00`)],
    ['nothing', Buffer.alloc(0)],
    ['a list', withLength('8101')],
  ])('rejects as auxdata: %s', (_what, code) => {
    expect(readAuxdataAt(code, 0)).toBeUndefined();
  });
});

describe('readTrailingAuxdata', () => {
  test('finds auxdata at the very end of the bytecode only', () => {
    const auxdata = auxdataOf('0.6.0');
    expect(readTrailingAuxdata(Buffer.concat([bytes('6001fe'), auxdata]))).toMatchObject({
      offset: 3,
      solc: '0.6.0',
    });
    expect(readTrailingAuxdata(Buffer.concat([auxdata, bytes('00')]))).toBeUndefined();
  });

  test.each(['', '00', '0000', 'ffff', '6001600255'])('finds none in %j', (code) => {
    expect(readTrailingAuxdata(bytes(code))).toBeUndefined();
  });
});
