// Verification access: the service as configured, over every protocol.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deploy, findAnvil, NO_ANVIL, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { runInProcess } from './support/run-cli.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

const TOKEN = 'canary-token-0123456789';
const PATH = 'src/Kept.sol';
const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract Kept { uint256 public kept = 4; }`;
const input = inputOf({ [PATH]: SOURCE });
const compilation = {
  stdJsonInput: input,
  compilerVersion: '0.8.30',
  contractIdentifier: `${PATH}:Kept`,
};
const absence = findAnvil() === undefined ? NO_ANVIL : undefined;

/** Starts a service with this access configuration. */
const start = (access: string): Promise<VerifyingService> =>
  startVerifyingService((folder) => `compilers: { folder: ${folder} }\naccess: ${access}\n`);

describe.skipIf(absence)(`token access${absence ? ` (${absence})` : ''}`, () => {
  let service: VerifyingService;
  let address: string;
  beforeAll(async () => {
    service = await start(`{ verify: token, tokens: ["ci:${TOKEN}"], verificationsPerHour: 100 }`);
    const { creationCode } = await compileAsDeveloper('0.8.30', input, PATH, 'Kept');
    ({ address } = await deploy(service.anvil, creationCode));
  });
  afterAll(() => service.close());

  const post = (route: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${service.service.apiUrl}${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const place = `${VERIFIED_CHAIN_ID}/0x${'1'.repeat(40)}`;

  test.each([
    [`/v2/verify/${place}`, compilation, 'customCode'],
    [`/v2/verify/metadata/${place}`, { sources: {}, metadata: {} }, 'customCode'],
    [`/v2/verify/similarity/${place}`, {}, 'customCode'],
    [`/v2/verify/etherscan/${place}`, {}, 'customCode'],
    [`/v1/verify/sources/${place}`, { files: { 'a.sol': 'contract A {}' } }, 'code'],
    ['/signature-database/v1/import', { function: ['f()'] }, undefined],
    ['/blockscout/api/v1/signatures', { abi: '[]' }, 'code'],
    ['/verify', { address: `0x${'1'.repeat(40)}`, chain: '1', files: {} }, undefined],
  ])('rejects %s without a token and does not read its body', async (route, body, code) => {
    const refused = await post(route, body);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    const answer = (await refused.json()) as Record<string, unknown>;
    if (code !== undefined) expect(answer[code]).toBe('token_required');
    const wrong = await post(route, body, { authorization: 'Bearer 0123456789abcdef' });
    expect(wrong.status).toBe(401);
    if (code !== undefined) {
      expect(((await wrong.json()) as Record<string, unknown>)[code]).toBe('token_unknown');
    }
  });

  test('allows reads and reports at /version that a token is required', async () => {
    const { apiUrl } = service.service;
    expect(await (await fetch(`${apiUrl}/version`)).json()).toMatchObject({ verify: 'token' });
    expect((await fetch(`${apiUrl}/v2/contract/${place}`)).status).toBe(404);
    expect((await fetch(`${apiUrl}/chains`)).status).toBe(200);
  });

  test("accepts the token as an Etherscan API key and from the CLI's environment variable", async () => {
    const { apiUrl } = service.service;
    const fields = {
      ...{ module: 'contract', action: 'verifysourcecode', contractaddress: address },
      ...{ sourceCode: JSON.stringify(input), codeformat: 'solidity-standard-json-input' },
      ...{ contractname: `${PATH}:Kept`, compilerversion: 'v0.8.30+commit.73712a01' },
    };
    const send = async (apikey: string): Promise<{ status: string; result: string }> => {
      const body = new URLSearchParams({ ...fields, apikey });
      const answer = await fetch(`${apiUrl}/evm/${VERIFIED_CHAIN_ID}/etherscan/api`, {
        ...{ method: 'POST', body },
      });
      return (await answer.json()) as { status: string; result: string };
    };
    expect(await send('some-other-key-of-an-account')).toMatchObject({ status: '0' });
    expect(await send(TOKEN)).toMatchObject({ status: '1' });

    const folder = await createTemporaryFolder();
    const file = path.join(folder.path, 'input.json');
    await writeFile(file, JSON.stringify(input));
    const verify = (environment: Record<string, string>) =>
      runInProcess(
        [
          ...['verify', String(VERIFIED_CHAIN_ID), address, file, '--url', apiUrl, '--wait'],
          ...['--compiler', '0.8.30', '--contract', `${PATH}:Kept`, '--json'],
        ],
        { environment },
      );
    await expect.poll(async () => (await service.contractAt(address)).match).toBe('exact_match');
    const refused = await verify({});
    expect(refused.exitCode).toBe(1);
    expect(JSON.parse(refused.stdout)).toMatchObject({ reason: 'token_required' });
    expect(await verify({ FULLMATCH_TOKEN: TOKEN })).toMatchObject({ exitCode: 0 });
    await folder.remove();
  });

  test('never exposes the token in responses or the log', async () => {
    for (const route of ['/version', '/health', '/verify', '/chains']) {
      expect(await (await fetch(`${service.service.apiUrl}${route}`)).text()).not.toContain(TOKEN);
    }
    expect(service.service.logText()).not.toContain(TOKEN);
  });
});

describe.skipIf(absence)('a service with restricted verification', () => {
  test('rejects submissions with 403 and shows no form when verification is off', async () => {
    const closed = await start('{ verify: off }');
    try {
      const { apiUrl } = closed.service;
      const refused = await fetch(`${apiUrl}/v2/verify/1/0x${'1'.repeat(40)}`, {
        ...{ method: 'POST', body: JSON.stringify(compilation) },
        headers: { 'content-type': 'application/json' },
      });
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({ customCode: 'verification_off' });
      const page = await fetch(`${apiUrl}/verify`, { headers: { accept: 'text/html' } });
      const text = await page.text();
      expect(text).toContain('does not accept submissions');
      expect(text).not.toContain('<form class="verify"');
    } finally {
      await closed.close();
    }
  });

  test('returns 429 with rate limit headers beyond the hourly limit', async () => {
    const bounded = await start('{ verificationsPerHour: 2 }');
    try {
      const send = () =>
        fetch(`${bounded.service.apiUrl}/v2/verify/1/0x${'1'.repeat(40)}`, {
          ...{ method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } },
        });
      for (const left of [1, 0]) {
        const taken = await send();
        expect(taken.status).toBe(400);
        expect(taken.headers.get('ratelimit')).toMatch(
          new RegExp(`^"verifications";r=${left};t=\\d+$`),
        );
        expect(taken.headers.get('access-control-expose-headers')).toContain('RateLimit');
      }
      const refused = await send();
      expect(refused.status).toBe(429);
      expect(await refused.json()).toMatchObject({ customCode: 'too_many_verifications' });
      expect(refused.headers.get('ratelimit')).toMatch(/^"verifications";r=0;t=\d+$/);
      expect(refused.headers.get('ratelimit-policy')).toBe('"verifications";q=2;w=3600');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
    } finally {
      await bounded.close();
    }
  });
});
