import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSourceUrl } from './source-url.ts';

const CID = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPBdG';
const HASH = 'ab'.repeat(32);

test.each([
  [`dweb:/ipfs/${CID}`, { storage: 'ipfs', cid: { text: CID } }],
  [`dweb://ipfs/${CID}`, { storage: 'ipfs', cid: { text: CID } }],
  [`ipfs://${CID}`, { storage: 'ipfs', cid: { text: CID } }],
  [`ipfs://ipfs/${CID}`, { storage: 'ipfs', cid: { text: CID } }],
  [`bzz-raw://${HASH}`, { storage: 'swarm', hash: HASH }],
  [`bzzr://${HASH.toUpperCase()}`, { storage: 'swarm', hash: HASH }],
])('parses %s as a content hash', (url, place) => {
  expect(readSourceUrl(url)).toMatchObject(place);
});

test.each([
  `https://ipfs.io/ipfs/${CID}`,
  `http://127.0.0.1/${CID}`,
  `file:///ipfs/${CID}`,
  `dweb:/ipns/${CID}`,
  `dweb:/ipfs/${CID}/A.sol`,
  `dweb:/ipfs/${CID}?format=raw`,
  `dweb:/ipfs/../${CID}`,
  `ipfs://${CID}#`,
  `bzz-raw://${HASH}/`,
  `bzz-raw://${HASH}00`,
  `bzz://${HASH}`,
  `${' '.repeat(200)}ipfs://${CID}`,
  '',
])('ignores %s', (url) => {
  expect(readSourceUrl(url)).toBeUndefined();
});

test('only a CID or 64 hex digits ever reaches a request', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('', 'dweb:/ipfs/', 'ipfs://', 'bzz-raw://'),
      fc.string({ unit: 'grapheme-ascii' }),
      (scheme, text) => {
        const place = readSourceUrl(`${scheme}${text}`);
        if (place?.storage === 'swarm') expect(place.hash).toMatch(/^[0-9a-f]{64}$/);
        if (place?.storage === 'ipfs') expect(place.cid.text).toMatch(/^[0-9A-Za-z]{46,60}$/);
      },
    ),
  );
});
