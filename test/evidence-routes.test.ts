// API routes that explain how a match was established and report the state of a job.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checksumAddress, type Hex } from '../src/lib/hex.ts';
import { keccak256 } from '../src/lib/keccak.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { withdrawMatch } from '../src/repository/matches/withdraw-match.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { configOf, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { post } from './support/verification-client.ts';

const VERIFIED: Hex = '0xabcdefabcdefabcdefabcdefabcdefabcdefabcd';
const IMPORTED = sampleAddress(2);
const CODE = Buffer.from('60036004', 'hex');
/** No node listens on this port, so no bytecode can be read. */
const NOBODY = 'http://127.0.0.1:1';
const JOB = '3b9b2d1c-7c0f-4d5e-9d6a-0a1b2c3d4e5f';

let testDatabase: TestDatabase;
let service: BootedService;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const sample = sampleContract(1, VERIFIED, { runtimeMatch: 'full' });
  await saveMatch(testDatabase.database, {
    ...sample,
    origin: 'verified',
    deployment: { runtimeCode: CODE },
    compilation: { ...sample.compilation, runtimeCode: CODE },
    codeReading: { blockNumber: 21, blockHash: `0x${'cd'.repeat(32)}`, endpoints: ['a', 'b'] },
    creationSearch: [{ method: 'explorer', outcome: 'not_found', durationMs: 12 }],
  });
  await saveMatch(testDatabase.database, sampleContract(1, IMPORTED, { creationMatch: 'partial' }));
  service = await bootService({
    databaseUrl: testDatabase.url,
    yaml: configOf({ url: NOBODY }),
  });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

async function get(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${service.apiUrl}${path}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function schemaOf(name: string): Promise<object> {
  const { body } = await get('/openapi.json');
  const { schemas } = body['components'] as { schemas: Record<string, object> };
  return schemas[name] ?? {};
}

describe('GET /v1/contracts/{chainId}/{address}', () => {
  test('returns who verified it, where the bytecode was read, and the bytecode hashes', async () => {
    const { status, body } = await get(`/v1/contracts/1/${VERIFIED}`);
    expect(status).toBe(200);
    const hash = `0x${Buffer.from(keccak256(CODE)).toString('hex')}`;
    expect(body).toMatchObject({
      chainId: 1,
      address: checksumAddress(VERIFIED),
      match: 'full',
      runtimeMatch: 'full',
      creationMatch: null,
      origin: 'verified',
      codeReading: { blockNumber: 21, endpoints: ['a', 'b'] },
      creationSearch: [{ method: 'explorer', outcome: 'not_found', durationMs: 12 }],
      runtimeCode: { onChain: hash, recompiled: hash },
      creationCode: { onChain: null, recompiled: null },
    });
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
      await schemaOf('Evidence'),
    );
    expect(validate(body), JSON.stringify(validate.errors)).toBe(true);
  });

  test('leaves fields unknown that an import does not contain', async () => {
    const { body } = await get(`/server/v1/contracts/1/${IMPORTED}`);
    expect(body).toMatchObject({
      origin: 'imported',
      codeReading: null,
      creationSearch: null,
      runtimeCode: { onChain: null, recompiled: null },
    });
  });

  test('returns a problem for an unverified contract and for an invalid address', async () => {
    const absent = await get(`/v1/contracts/1/${sampleAddress(9)}`);
    expect([absent.status, absent.body['code']]).toEqual([404, 'contract_not_found']);
    const broken = await get('/v1/contracts/1/0x12');
    expect([broken.status, broken.body['code']]).toEqual([400, 'invalid_parameter']);
  });
});

describe('GET /v1/contracts/{chainId}/{address}/events', () => {
  test('lists the events of a match, newest first, with the reason of its withdrawal', async () => {
    const [address, { database }] = [sampleAddress(7), testDatabase];
    await saveMatch(database, sampleContract(1, address, { runtimeMatch: 'partial' }));
    await saveMatch(database, sampleContract(1, address, { runtimeMatch: 'full' }));
    await withdrawMatch(database, { chainId: 1, address, reason: 'Of another chain' });
    const { status, body } = await get(`/v1/contracts/1/${address}/events`);
    expect(status).toBe(200);
    expect(body['results']).toMatchObject([
      { kind: 'withdrawn', match: null, reason: 'Of another chain' },
      { kind: 'upgraded', match: 'full' },
      { kind: 'stored', match: 'partial', origin: 'imported' },
    ]);
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
      await schemaOf('ContractEvents'),
    );
    expect(validate(body), JSON.stringify(validate.errors)).toBe(true);
  });

  test('is empty without any match and rejects an invalid address', async () => {
    const absent = await get(`/v1/contracts/1/${sampleAddress(9)}/events`);
    expect([absent.status, absent.body]).toEqual([200, { results: [] }]);
    const broken = await get('/v1/contracts/1/0x12/events');
    expect([broken.status, broken.body['code']]).toEqual([400, 'invalid_parameter']);
  });
});

describe('GET /v1/jobs/{id}', () => {
  test('returns the state of a job immediately, and why it failed once it has', async () => {
    const submitted = await post(
      `${service.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${sampleAddress(5)}`,
      {
        stdJsonInput: { language: 'Solidity', sources: { 'a.sol': { content: 'no solidity' } } },
        compilerVersion: '0.8.30',
        contractIdentifier: 'a.sol:A',
      },
    );
    const { verificationId } = (await submitted.json()) as { verificationId: string };
    const first = await get(`/v1/jobs/${verificationId}`);
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ id: verificationId, chainId: VERIFIED_CHAIN_ID });
    await fetch(`${service.apiUrl}/v2/verify/${verificationId}`);
    const { body } = await get(`/v1/jobs/${verificationId}`);
    expect(body).toMatchObject({
      state: 'failed',
      stored: false,
      failure: { kind: 'not_checked', code: 'cannot_fetch_bytecode' },
    });
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
      await schemaOf('JobState'),
    );
    expect(validate(body), JSON.stringify(validate.errors)).toBe(true);
  });

  test('returns a problem for an unknown job and an invalid id', async () => {
    for (const id of [JOB, 'x']) {
      const { status, body } = await get(`/v1/jobs/${id}`);
      expect([status, body['code']]).toEqual([404, 'job_not_found']);
    }
  });
});
