import { z } from 'zod';
import { apiKey, publicUrl, section, text, unset } from './setting-schemas.ts';

/** Defines the settings for forwarding matches to an explorer. */
export function explorer(name: string, example: string) {
  return section(`Forwarding to ${name}.`, {
    url: text(z.union([z.literal('off'), publicUrl]), 'off', {
      description:
        'The Etherscan-compatible API that matches are forwarded to; {chainId} in its path is replaced by the chain id; off to forward nothing.',
      expected: `off, or an http or https URL without query, such as ${example}`,
    }),
    apiKey: unset(apiKey, {
      description: 'The API key for it.',
      expected: 'a key without white space, such as 0123456789ABCDEF',
      secret: true,
    }),
  });
}
