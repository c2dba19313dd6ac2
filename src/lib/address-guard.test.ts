import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCases } from '../../test/support/shared-data.ts';
import {
  hostPortOf,
  isBlockedPort,
  classifyAddress,
  literalAddress,
  normalizeHostPort,
} from './address-guard.ts';

/** The special-purpose IPv4 blocks in IANA's registry, by first and last address. */
const SPECIAL_IPV4: readonly (readonly [string, string])[] = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '255.255.255.255'],
];

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function dotted(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
}

const ipv4 = fc.oneof(
  fc.nat(0xffffffff),
  fc
    .constantFrom(...SPECIAL_IPV4.flat())
    .chain((edge) => fc.integer({ min: -2, max: 2 }).map((step) => numberOf(edge) + step))
    .filter((number) => number >= 0 && number <= 0xffffffff),
);

describe('Address classification', () => {
  test('classifies globally routed addresses as public', () => {
    for (const address of readCases<string>('public-addresses.json')) {
      expect([address, classifyAddress(address)]).toEqual([address, 'public']);
    }
  });

  test('blocks every special-purpose IPv4 range up to its last address', () => {
    fc.assert(
      fc.property(ipv4, (number) => {
        const special = SPECIAL_IPV4.some(
          ([first, last]) => number >= numberOf(first) && number <= numberOf(last),
        );
        if (special) expect(classifyAddress(dotted(number))).not.toBe('public');
      }),
      { numRuns: 2000 },
    );
    for (const [first, last] of SPECIAL_IPV4) {
      for (const outside of [numberOf(first) - 1, numberOf(last) + 1]) {
        if (outside < 0 || outside > 0xdfffffff) continue;
        expect([dotted(outside), classifyAddress(dotted(outside))]).toEqual([
          dotted(outside),
          'public',
        ]);
      }
    }
  });

  test('classifies IPv4 inside IPv6 as that IPv4 address, or blocks it', () => {
    fc.assert(
      fc.property(ipv4, (number) => {
        const words = `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`;
        const plain = classifyAddress(dotted(number));
        expect(classifyAddress(`::ffff:${words}`)).toBe(plain);
        expect(classifyAddress(`64:ff9b::${words}`)).toBe(plain);
        for (const carrier of [
          `::${words}`,
          `2002:${words}::1`,
          `2001:0:${words}::1`,
          `2001:470::5efe:${words}`,
          `::ffff:0:${words}`,
          `64:ff9b:1::${words}`,
        ]) {
          expect([carrier, classifyAddress(carrier)]).not.toEqual([carrier, 'public']);
        }
      }),
    );
  });

  test('blocks all IPv6 outside of 2000::/3', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const first = Number.parseInt(/^[0-9a-f]*/i.exec(address)?.[0] || '0', 16);
        const mapped = /^(?:::|0*:)/.test(address) || /^0*64:ff9b:/i.test(address);
        if (first >> 13 !== 1 && !mapped) expect(classifyAddress(address)).not.toBe('public');
      }),
      { numRuns: 1000 },
    );
  });

  test('returns the kind of an address', () => {
    expect(classifyAddress('127.0.0.1')).toBe('loopback');
    expect(classifyAddress('10.0.0.1')).toBe('private');
    expect(classifyAddress('169.254.169.254')).toBe('linkLocal');
    expect(classifyAddress('100.64.0.1')).toBe('carrierGradeNat');
    expect(classifyAddress('fd00::1')).toBe('uniqueLocal');
    expect(classifyAddress('168.63.129.16')).toBe('cloud');
  });

  test('returns unreadable for text that no socket would report', () => {
    for (const text of ['', '127.1', '0x7f.0.0.1', '2130706433', 'localhost', '1.2.3.4:80']) {
      expect([text, classifyAddress(text)]).toEqual([text, 'unreadable']);
    }
    expect(classifyAddress('fe80::1%eth0')).not.toBe('public');
  });
});

describe('Allow list', () => {
  test('uses the notation of URLs, with the port', () => {
    expect(normalizeHostPort('127.0.0.1:8545')).toBe('127.0.0.1:8545');
    expect(normalizeHostPort('LocalHost:08545')).toBe('localhost:8545');
    expect(normalizeHostPort('[::1]:8545')).toBe('[::1]:8545');
    expect(normalizeHostPort('[0:0::1]:80')).toBe('[::1]:80');
    expect(hostPortOf(new URL('http://geth/rpc'))).toBe('geth:80');
    expect(hostPortOf(new URL('https://geth/rpc'))).toBe('geth:443');
    expect(hostPortOf(new URL('http://GETH:8545/rpc'))).toBe('geth:8545');
  });

  test.each([
    '127.0.0.1',
    '127.0.0.1:',
    ':8545',
    '::1:8545',
    'http://127.0.0.1:8545',
    'a@b:1',
    'a/b:1',
    'a:0',
    'a:65536',
    '10.0.0.0/8:80',
    '*:8545 ',
    '',
  ])('rejects %j', (entry) => {
    expect(() => normalizeHostPort(entry)).toThrow(TypeError);
  });
});

describe('URL checks without DNS', () => {
  test('reads the address of an IP literal', () => {
    expect(literalAddress(new URL('http://[::1]:1/').hostname)).toBe('::1');
    expect(literalAddress(new URL('http://0x7f.1/').hostname)).toBe('127.0.0.1');
    expect(literalAddress(new URL('http://localhost/').hostname)).toBeUndefined();
  });

  test('blocks ports of other services', () => {
    expect(isBlockedPort(new URL('http://a.example:25/'))).toBe(true);
    expect(isBlockedPort(new URL('http://a.example:8545/'))).toBe(false);
    expect(isBlockedPort(new URL('https://a.example/'))).toBe(false);
  });
});
