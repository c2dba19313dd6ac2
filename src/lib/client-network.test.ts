import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { networkOf } from './client-network.ts';

describe('Network of a client', () => {
  test.each([
    ['192.0.2.77', '192.0.2.0/24'],
    ['2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8::/64', '2001:db8::/48'],
    ['127.0.0.9', '127.0.0.9'],
    ['10.1.2.3', '10.1.2.3'],
    ['172.16.9.1', '172.16.9.1'],
    ['192.168.1.7', '192.168.1.7'],
    ['100.64.0.1', '100.64.0.1'],
    ['::1', '::1'],
    ['fd00:1:2:3::/64', 'fd00:1:2:3::/64'],
    ['unknown', 'unknown'],
    ['', ''],
    ['1.2.3', '1.2.3'],
  ])('%s belongs to %s', (client, network) => {
    expect(networkOf(client)).toBe(network);
  });

  test('is the same for all addresses of a public IPv4 /24', () => {
    const octet = fc.nat(255);
    fc.assert(
      fc.property(octet, octet, octet, octet, octet, (a, b, c, d, e) => {
        fc.pre(![10, 100, 127, 169, 172, 192].includes(a));
        const network = networkOf(`${a}.${b}.${c}.${d}`);
        expect(networkOf(`${a}.${b}.${c}.${e}`)).toBe(network);
        expect(network).toMatch(/\.0\/24$/);
      }),
    );
  });
});
