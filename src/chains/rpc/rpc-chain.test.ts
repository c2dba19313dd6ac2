import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sampleEndpoint } from '../../../test/support/rpc-server.ts';
import { operatorOf } from './rpc-chain.ts';

const operatorAt = (host: string): string => operatorOf(sampleEndpoint(`https://${host}/key`));

describe('Hosts of one operator', () => {
  test.each([
    ['one domain', 'one.example.com', 'two.Example.com.'],
    ['an IPv4 address inside IPv6', '203.0.114.7', '[::ffff:203.0.114.7]'],
    ['the same in hex', '203.0.114.7:8545', '[::ffff:cb00:7207]'],
    ['one behind NAT64', '203.0.114.7', '[64:ff9b::cb00:7207]'],
    ['another spelling of an address', '203.0.114.7', '0xcb007207'],
    ['one /24', '203.0.114.7', '203.0.114.250'],
    ['one /24, inside IPv6', '203.0.114.7', '[::ffff:203.0.114.250]'],
    ['one /48', '[2606:4700:1::1]', '[2606:4700:1:ffff::2]'],
    ['a local address inside IPv6', '127.0.0.2', '[::ffff:127.0.0.2]'],
  ])('are recognized as %s', (_what, one, other) => {
    expect(operatorAt(one)).toBe(operatorAt(other));
  });

  test('include all addresses of a public /24 in both notations', () => {
    const last = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(last, last, fc.boolean(), (one, other, mapped) => {
        const second = mapped ? `[::ffff:203.0.114.${other}]` : `203.0.114.${other}`;
        expect(operatorAt(`203.0.114.${one}`)).toBe(operatorAt(second));
      }),
    );
  });
});

describe('Hosts of two operators', () => {
  test.each([
    ['two domains', 'rpc.example.com', 'rpc.example.org'],
    ['two networks of IPv4', '203.0.114.7', '203.0.115.7'],
    ['two networks of IPv6', '[2606:4700:1::1]', '[2606:4700:2::1]'],
    ['two networks behind NAT64', '[64:ff9b::cb00:7207]', '[64:ff9b::cb00:7307]'],
    ['loopback', '127.0.0.2', '127.0.0.3'],
    ['loopback inside IPv6', '127.0.0.2', '[::ffff:127.0.0.3]'],
    ['a private network', '10.0.0.1', '10.0.0.2'],
    ['a private network of IPv6', '[fd00::1]', '[fd00::2]'],
    ['a name and an address', 'localhost', '127.0.0.1'],
  ])('are distinguished as %s', (_what, one, other) => {
    expect(operatorAt(one)).not.toBe(operatorAt(other));
  });
});
