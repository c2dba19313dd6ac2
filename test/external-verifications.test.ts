// Submission of verifications to other explorers: a second service acts as one that verifies, a fake
// server as one that does not.
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { verifyOverV2 } from './support/verification-client.ts';

const VERSION = '0.8.37+commit.f401782d';
const KEY = 'KEY.of/the+operator';
const input = (name: string) =>
  inputOf({
    'src/Pot.sol': `contract ${name} { uint256 public immutable size; constructor(uint256 s) { size = s; } }`,
  });

interface External {
  readonly state: string;
  readonly verificationId?: string;
  readonly error?: string;
  readonly statusUrl?: string;
  readonly contractApiUrl?: string;
}

describeWith([ANVIL], 'external verifications', () => {
  let anvil: Anvil;
  let databases: readonly TestDatabase[];
  let explorer: BootedService;
  let service: BootedService;
  let standIn: Server;
  const asked: URLSearchParams[] = [];
  let answers: readonly string[] = [];

  const boot = (yaml: string, database: TestDatabase | undefined): Promise<BootedService> =>
    bootService({
      databaseUrl: database?.url ?? '',
      yaml: configOf(anvil, yaml),
      overrides: { forwardTimes: { pauseMs: 20, firstPauseMs: 50 } },
    });

  beforeAll(async () => {
    anvil = await startAnvil({ chainId: VERIFIED_CHAIN_ID });
    databases = await Promise.all([createTestDatabase(), createTestDatabase()]);
    standIn = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        asked.push(new URLSearchParams(Buffer.concat(chunks).toString()));
        const result = answers[Math.min(asked.length, answers.length) - 1] ?? '';
        response.end(JSON.stringify({ status: '0', message: 'NOTOK', result }));
      });
    });
    standIn.listen(0, '127.0.0.1');
    await once(standIn, 'listening');
    const { port } = standIn.address() as AddressInfo;
    explorer = await boot('', databases[0]);
    service = await boot(
      `externalVerifications:
  etherscan: { url: 'http://127.0.0.1:${port}/v2/api', apiKey: '${KEY}' }
  blockscout: { url: '${explorer.apiUrl}/evm/{chainId}/etherscan/api' }
`,
      databases[1],
    );
  });
  afterAll(async () => {
    await service.close();
    await explorer.close();
    standIn.close();
    await anvil.stop();
    await Promise.all(databases.map((database) => database.drop()));
  });

  const verify = async (name: string, at: BootedService, address?: string) => {
    const made = await compileAsDeveloper('0.8.37', input(name), 'src/Pot.sol', name);
    const place =
      address ?? (await deploy(anvil, made.creationCode, '7'.padStart(64, '0'))).address;
    const job = await verifyOverV2(at.apiUrl, place, {
      ...{ stdJsonInput: input(name), compilerVersion: VERSION },
      contractIdentifier: `src/Pot.sol:${name}`,
    });
    expect(job.error).toBeUndefined();
    return { address: place, id: job.verificationId };
  };
  const externalOf = async (id: string): Promise<Readonly<Record<string, External>>> => {
    const job = (await (await fetch(`${service.apiUrl}/v2/verify/${id}`)).json()) as {
      externalVerifications?: Record<string, External>;
    };
    return job.externalVerifications ?? {};
  };
  const stateAt = async (id: string, name: string): Promise<string | undefined> =>
    (await externalOf(id))[name]?.state;

  test('submits contracts to an explorer and links the result in the job', async () => {
    answers = ['Max rate limit reached', `Invalid API Key: ${KEY}`];
    const { address, id } = await verify('Pot', service);
    await expect.poll(() => stateAt(id, 'blockscout')).toBe('verified');
    const { blockscout } = await externalOf(id);
    expect(blockscout?.error).toBeUndefined();
    const there = await fetch(`${explorer.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}`);
    expect(await there.json()).toMatchObject({ match: 'exact_match' });
    // The links lead to their targets.
    const status = await (await fetch(blockscout?.statusUrl ?? '')).json();
    expect(status).toMatchObject({ result: 'Pass - Verified' });
    const source = (await (await fetch(blockscout?.contractApiUrl ?? '')).json()) as {
      result: { ContractName: string }[];
    };
    expect(source.result[0]?.ContractName).toBe('Pot');

    await expect.poll(() => stateAt(id, 'etherscan')).toBe('failed');
    const { etherscan } = await externalOf(id);
    expect(etherscan?.error).toBe('Invalid API Key: ***');
    expect(JSON.stringify(etherscan)).not.toContain(KEY);
    expect(service.logText()).not.toContain(KEY);
    expect(asked.length).toBe(2);
    const [sent] = asked;
    expect(Object.fromEntries(sent ?? [])).toMatchObject({
      ...{ apikey: KEY, action: 'verifysourcecode', contractaddress: address.toLowerCase() },
      ...{ contractname: 'src/Pot.sol:Pot', compilerversion: `v${VERSION}` },
      constructorArguments: '7'.padStart(64, '0'),
    });
  });

  test('counts contracts already at the explorer as verified and does not resubmit existing matches', async () => {
    const { address } = await verify('Known', explorer);
    const { id } = await verify('Known', service, address);
    await expect.poll(() => stateAt(id, 'blockscout')).toBe('verified');
    expect((await externalOf(id))['blockscout']?.verificationId).toBeUndefined();
    const before = asked.length;
    const again = await fetch(`${service.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ stdJsonInput: input('Known'), compilerVersion: VERSION },
        contractIdentifier: 'src/Pot.sol:Known',
      }),
    });
    expect(again.status).toBe(409);
    expect(asked.length).toBeLessThanOrEqual(before + 1);
  });

  test('contacts no explorer if none is configured', async () => {
    const { id } = await verify('Quiet', explorer);
    const job = await (await fetch(`${explorer.apiUrl}/v2/verify/${id}`)).json();
    expect(job).not.toHaveProperty('externalVerifications');
  });
});
