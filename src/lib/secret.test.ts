import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Secret } from './secret.ts';

test('a secret is never shown as text, JSON, inspection, spread or error', () => {
  const secret = new Secret('hunter2-key');
  const outputs = [
    String(secret),
    secret.toString(),
    JSON.stringify({ secret, list: [secret] }),
    inspect({ secret }, { depth: 9, showHidden: true }),
    JSON.stringify(Object.assign({}, secret)),
    Object.entries(secret).join(),
    new Error('failed', { cause: secret }).stack ?? '',
    inspect(new Error('failed', { cause: secret }), { showHidden: true }),
  ];
  for (const output of outputs) expect(output).not.toContain('hunter2');
  expect(secret.reveal()).toBe('hunter2-key');
});
