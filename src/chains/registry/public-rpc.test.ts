import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCases } from '../../../test/support/shared-data.ts';
import { judgeRpc, type RpcFault } from './public-rpc.ts';

interface Case {
  readonly url: string;
  readonly local?: boolean;
  readonly fault: RpcFault | null;
}

describe('judgeRpc', () => {
  test.each(readCases<Case>('public-rpc.json'))(
    'classifies $url (local: $local) as $fault',
    ({ url, local = false, fault }) => {
      expect(judgeRpc(url, { local }) ?? null).toBe(fault);
    },
  );

  test('rejects every private IPv4 address in decimal, hexadecimal, octal and IPv6 notation', () => {
    const privateAddress = fc
      .tuple(
        fc.constantFrom([127], [10], [192, 168], [172, 20], [169, 254], [100, 100], [0]),
        fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 3, maxLength: 3 }),
      )
      .map(([prefix, rest]) => [...prefix, ...rest].slice(0, 4));
    fc.assert(
      fc.property(privateAddress, (bytes) => {
        const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
        const hosts = [
          bytes.join('.'),
          String(value),
          `0x${value.toString(16)}`,
          bytes.map((byte) => `0${byte.toString(8)}`).join('.'),
          `[::ffff:${bytes.join('.')}]`,
        ];
        for (const host of hosts) {
          expect(judgeRpc(`http://${host}/`, { local: false }), host).toBe('private_host');
        }
      }),
    );
  });

  test('rejects every URL with credentials', () => {
    const part = fc.stringMatching(/^[a-z0-9%:._-]{0,8}$/);
    fc.assert(
      fc.property(part, part, fc.boolean(), (name, password, local) => {
        const url = `https://${name}:${password}@rpc.example.org/`;
        expect(judgeRpc(url, { local })).toBeDefined();
      }),
    );
  });
});
