// Contracts that require a token: the service as configured, with its real database.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANVIL, describeWith } from './support/needs.ts';
import { runInProcess } from './support/run-cli.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const TOKEN = 'canary-token-0123456789';
const BEARER = { authorization: `Bearer ${TOKEN}` };
const BASIC = { authorization: `Basic ${Buffer.from(`me:${TOKEN}`).toString('base64')}` };
const PATH = 'src/Hidden.sol';
const NAME = 'HiddenVault';
const input = inputOf({
  [PATH]: `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract ${NAME} { uint256 public kept = 4; event Canary(uint256 hidden); }`,
});
const compilation = {
  stdJsonInput: input,
  compilerVersion: '0.8.30',
  contractIdentifier: `${PATH}:${NAME}`,
};

interface WireJob {
  readonly isJobCompleted: boolean;
  readonly error?: { readonly customCode: string };
  readonly contract: { readonly match: string | null };
}

describeWith([ANVIL], 'unlisted contracts', () => {
  let service: VerifyingService;
  let address: string;
  let second: string;
  let apiUrl: string;
  beforeAll(async () => {
    service = await startVerifyingService(
      (folder) =>
        `compilers: { folder: ${folder} }\naccess: { unlisted: true, tokens: ["ci:${TOKEN}"] }\napi: { prefix: /server }\n`,
    );
    ({ apiUrl } = service.service);
    const { creationCode } = await compileAsDeveloper('0.8.30', input, PATH, NAME);
    ({ address } = await deploy(service.anvil, creationCode));
    ({ address: second } = await deploy(service.anvil, creationCode));
  });
  afterAll(() => service.close());

  const ask = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(`${apiUrl}${path}`, { ...init, headers });
  const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(
      path,
      { 'content-type': 'application/json', ...headers },
      {
        method: 'POST',
        body: JSON.stringify(body),
      },
    );
  const place = (): string => `${VERIFIED_CHAIN_ID}/${address}`;
  const endOf = async (prefix: string, answer: Response): Promise<WireJob> => {
    const { verificationId } = (await answer.json()) as { verificationId: string };
    let job: WireJob | undefined;
    await expect
      .poll(async () => {
        const asked = await ask(`${prefix}/v2/verify/${verificationId}`, BEARER);
        job = (await asked.json()) as WireJob;
        return job.isJobCompleted;
      })
      .toBe(true);
    if (job === undefined) throw new Error('no job');
    return job;
  };
  /** Every public route that could reveal the contract. */
  const PUBLISHED = [
    '/chains',
    '/v1/contracts?limit=100',
    `/v1/contracts/search?q=${NAME}`,
    `/v2/contracts/${VERIFIED_CHAIN_ID}`,
    `/files/contracts/${VERIFIED_CHAIN_ID}`,
    '/v1/statistics',
    '/v1/statistics/history?from=2020-01-01',
    `/signature-database/v1/search?query=Canary(uint256)`,
    '/',
    '/contracts',
    `/search?q=${NAME}`,
    '/statistics',
  ];

  test('are rejected without a token, even where anyone may verify', async () => {
    const refused = await send(`/unlisted/v2/verify/${place()}`, compilation);
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ customCode: 'token_required' });
    const wrong = { authorization: 'Bearer 0123456789abcdef' };
    const unknown = await send(`/unlisted/v2/verify/${place()}`, compilation, wrong);
    expect(await unknown.json()).toMatchObject({ customCode: 'token_unknown' });
    // Browsers send basic authentication automatically, even for requests from other sites' pages.
    expect((await send(`/unlisted/v2/verify/${place()}`, compilation, BASIC)).status).toBe(401);
  });

  test('are verified and looked up by address with a token', async () => {
    const before = await service.statistics();
    const submitted = await send(`/unlisted/v2/verify/${place()}`, compilation, BEARER);
    expect(submitted.status).toBe(202);
    expect(await endOf('/unlisted', submitted)).toMatchObject({
      contract: { match: 'exact_match' },
    });
    for (const path of ['/unlisted', '/server/unlisted', '']) {
      const found = await ask(`${path}/v2/contract/${place()}?fields=sources`, BEARER);
      expect(found.status, path).toBe(200);
      expect(found.headers.get('cache-control'), path).toMatch(/^private, /);
      expect(await found.json()).toMatchObject({
        match: 'exact_match',
        sources: { [PATH]: { content: input.sources[PATH]?.content } },
      });
    }
    expect(await service.statistics()).toBe(before);
  });

  test('are hidden on every path without a token', async () => {
    for (const path of [
      `/v2/contract/${place()}`,
      `/v2/contract/all-chains/${address}`,
      `/v1/contracts/${place()}`,
      `/files/any/${place()}`,
      `/contract/${place()}`,
    ]) {
      expect((await ask(path)).status, path).toBe(404);
      expect((await ask(path, { authorization: 'Bearer 0123456789abcdef' })).status, path).toBe(
        404,
      );
    }
    for (const path of [
      `/unlisted/v2/contract/${place()}`,
      `/unlistedv2/contract/${place()}`,
      `/unlisted/contract/${place()}`,
      `/server/unlisted/files/any/${place()}`,
      `/unlisted/api?module=contract&action=getsourcecode&address=${address}&chainid=${VERIFIED_CHAIN_ID}`,
    ]) {
      const answer = await ask(path);
      // Every response of the Etherscan protocol has status 200.
      expect([401, path.includes('/api?') ? 200 : 401], path).toContain(answer.status);
      expect(await answer.text(), path).not.toContain(NAME);
    }
  });

  test('appear in no list, search, event or document, with or without a token', async () => {
    const { repositoryUrl } = service.service;
    for (const headers of [{}, BEARER]) {
      for (const path of PUBLISHED) {
        const text = await (
          await ask(path, { accept: 'text/html, application/json', ...headers })
        ).text();
        // The search echoes its query.
        const told = text
          .replaceAll(`q=${NAME}`, '')
          .replaceAll(new RegExp(`value="${NAME}"`, 'g'), '');
        expect(told.toLowerCase(), path).not.toContain(address.slice(2, 20).toLowerCase());
      }
      for (const path of [
        `/unlisted/v2/contracts/${VERIFIED_CHAIN_ID}`,
        '/unlisted/v1/contracts',
        '/unlisted/v1/statistics',
        '/unlisted/v1/events',
        '/unlisted/search?q=Hidden',
        '/unlisted/contracts',
      ]) {
        expect((await ask(path, headers)).status, path).toBe(404);
      }
    }
    const documents = await (await fetch(`${repositoryUrl}/stats.json`)).text();
    expect(JSON.parse(documents)).not.toHaveProperty(String(VERIFIED_CHAIN_ID));
    const folder = await fetch(`${repositoryUrl}/contracts/full_match/${place()}`);
    expect(folder.status).toBe(404);
  });

  test('have a page for which the browser asks for the token', async () => {
    const refused = await ask(`/unlisted/contract/${place()}`, { accept: 'text/html' });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toMatch(/^Basic /);
    const page = await ask(`/unlisted/contract/${place()}`, { accept: 'text/html', ...BASIC });
    expect(page.status).toBe(200);
    const text = await page.text();
    expect(text).toContain(NAME);
    expect(text).toContain('Unlisted:');
    expect(text).toContain('href="../../../registry"');
  });

  test('are verified and read with the token as an Etherscan API key', async () => {
    const fields = {
      ...{ module: 'contract', action: 'verifysourcecode', contractaddress: second },
      ...{ sourceCode: JSON.stringify(input), codeformat: 'solidity-standard-json-input' },
      ...{ contractname: `${PATH}:${NAME}`, compilerversion: 'v0.8.30+commit.73712a01' },
    };
    const at = `/unlisted/evm/${VERIFIED_CHAIN_ID}/etherscan/api`;
    const form = async (
      body: Record<string, string>,
    ): Promise<{ status: string; result: unknown }> =>
      (await ask(at, {}, { method: 'POST', body: new URLSearchParams(body) })).json() as never;
    expect(await form(fields)).toMatchObject({ status: '0' });
    expect(await form({ ...fields, apikey: TOKEN })).toMatchObject({ status: '1' });
    const question = { module: 'contract', action: 'getsourcecode', address: second };
    const query = new URLSearchParams({ ...question, apikey: TOKEN });
    await expect
      .poll(async () => JSON.stringify(await (await ask(`${at}?${query.toString()}`)).json()))
      .toContain(NAME);
    expect(JSON.stringify(await form(question))).not.toContain(NAME);
    expect(JSON.stringify(await form({ ...question, apikey: TOKEN }))).toContain(NAME);
  });

  test('are counted separately by recount', async () => {
    const environment = { DATABASE_URL: service.testDatabase.url };
    const counted = await runInProcess(['recount', '--json'], { environment });
    expect(counted.exitCode, counted.stderr).toBe(0);
    expect(JSON.parse(counted.stdout)).toMatchObject({
      ...{ contracts: 0, differences: [] },
      unlisted: { contracts: 2, differences: [] },
    });
  });

  test('can be listed later, which adds an event', async () => {
    const listing = `/v1/contracts/${place()}/list`;
    expect((await send(listing, {})).status).toBe(401);
    const none = `/v1/contracts/${VERIFIED_CHAIN_ID}/0x${'1'.repeat(40)}/list`;
    const missing = await send(none, {}, BEARER);
    expect([missing.status, await missing.json()]).toMatchObject([
      404,
      { code: 'contract_not_found' },
    ]);
    const submitted = await send(listing, {}, BEARER);
    expect(submitted.status).toBe(202);
    expect(await endOf('', submitted)).toMatchObject({ contract: { match: 'exact_match' } });
    expect(await (await ask(`/v2/contract/${place()}`)).json()).toMatchObject({
      match: 'exact_match',
    });
    await expect
      .poll(async () => JSON.parse(await service.statistics()) as unknown)
      .toMatchObject({ [VERIFIED_CHAIN_ID]: { full_match: 1 } });
    const events = (await (await ask(`/v1/contracts/${place()}/events`)).json()) as {
      results: readonly { kind: string }[];
    };
    expect(events.results.map(({ kind }) => kind)).toEqual(['stored']);
    // The other one is unchanged.
    expect((await ask(`/v2/contract/${VERIFIED_CHAIN_ID}/${second}`)).status).toBe(404);
    const again = await send(listing, {}, BEARER);
    expect(again.status).toBe(409);
  });

  test('expose no token in responses or the log', () => {
    expect(service.service.logText()).not.toContain(TOKEN);
  });
});
