import { afterAll, beforeAll, expect, test } from 'vitest';
import { checksumAddress } from '../src/lib/hex.ts';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { post } from './support/verification-client.ts';
import { makeZip } from './support/zip.ts';

const PATH = 'contracts/Box.sol';
const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

contract Box {
    uint256 public value = 7;
}
`;
const LONG_VERSION = '0.8.37+commit.f401782d';

describeWith([ANVIL], 'files in verification API v1', () => {
  let testDatabase: TestDatabase;
  let anvil: Anvil;
  let service: BootedService;
  let creationCode: string;
  let metadata: string;
  beforeAll(async () => {
    [testDatabase, anvil] = await Promise.all([
      createTestDatabase(),
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
    ]);
    service = await bootService({ databaseUrl: testDatabase.url, yaml: configOf(anvil) });
    const input = inputOf({ [PATH]: SOURCE });
    ({ creationCode, metadata } = await compileAsDeveloper('0.8.37', input, PATH, 'Box'));
  });
  afterAll(async () => {
    await service.close();
    await anvil.stop();
    await testDatabase.drop();
  });

  const deployBox = async (): Promise<string> => (await deploy(anvil, creationCode, '')).address;
  const send = async (address: string, more: object) => {
    const body = { address, chain: String(VERIFIED_CHAIN_ID), ...more };
    const response = await post(`${service.apiUrl}/verify`, body);
    return { status: response.status, body: await response.json() };
  };
  const sendForm = async (
    address: string,
    parts: readonly (readonly [string, string | File])[],
  ) => {
    const form = new FormData();
    form.set('address', address);
    form.set('chain', String(VERIFIED_CHAIN_ID));
    for (const [field, value] of parts) form.append(field, value);
    const response = await fetch(`${service.apiUrl}/`, { method: 'POST', body: form });
    return { status: response.status, body: await response.json() };
  };
  const PERFECT = { status: 200, body: { result: [{ status: 'perfect' }] } };

  test('are accepted as Node.js Buffers and as metadata parsed by the client', async () => {
    const files = {
      'metadata.json': JSON.parse(metadata) as object,
      'Box.sol': Buffer.from(SOURCE),
    };
    expect(await send(await deployBox(), { files })).toMatchObject(PERFECT);
  });

  test('are accepted from form parts with missing or identical file names', async () => {
    const unnamed = [
      ['files', metadata],
      ['files', SOURCE],
    ] as const;
    expect(await sendForm(await deployBox(), unnamed)).toMatchObject(PERFECT);
    const namesakes = [metadata, '// another', SOURCE].map(
      (text) => ['files', new File([text], 'file')] as const,
    );
    expect(await sendForm(await deployBox(), namesakes)).toMatchObject(PERFECT);
  });

  test('are extracted from an archive that also contains non-text files', async () => {
    const zip = makeZip({ 'out/metadata.json': metadata, 'src/Box.sol': SOURCE });
    const files = [
      ['files', new File([new Uint8Array(zip)], 'project.zip')],
      ['files', new File([new Uint8Array([0xff, 0xfe, 0])], 'logo.png')],
    ] as const;
    expect(await sendForm(await deployBox(), files)).toMatchObject(PERFECT);
  });

  test.each([
    [
      'understates the size of a file',
      () => makeZip({ 'a.sol': 'x'.repeat(9_000) }, { uncompressedSize: 1 }),
    ],
    ['claims that a file is huge', () => makeZip({ 'a.sol': 'x' }, { uncompressedSize: 2 ** 31 })],
    ['ends in the middle', () => makeZip({ 'a.sol': 'x' }).subarray(0, 40)],
    ['contains a path out of its folder', () => makeZip({ '../a.sol': 'x' })],
  ])('in an archive that %s are rejected', async (_, make) => {
    const files = [['files', new File([new Uint8Array(make())], 'a.zip')]] as const;
    const { status, body } = await sendForm(await deployBox(), files);
    expect(status).toBe(400);
    expect(body).toEqual({ error: expect.stringContaining('files: the archive') as string });
  });

  test('may be a build info, in which the client chooses among several contracts', async () => {
    const input = inputOf({ [PATH]: SOURCE });
    const buildInfo = { solcLongVersion: LONG_VERSION, input, output: { contracts: {} } };
    const one = { ...buildInfo, output: { contracts: { [PATH]: { Box: {} } } } };
    expect(await send(await deployBox(), { files: { 'build.json': one } })).toMatchObject(PERFECT);
    const two = { ...buildInfo, output: { contracts: { [PATH]: { Other: {}, Box: {} } } } };
    const files = { 'build.json': JSON.stringify(two) };
    const address = await deployBox();
    expect(await send(address, { files })).toMatchObject({
      status: 400,
      body: {
        contractsToChoose: [
          { name: 'Other', path: PATH },
          { name: 'Box', path: PATH },
        ],
      },
    });
    expect(await send(address, { files, chosenContract: '1' })).toMatchObject(PERFECT);
  });

  test('cause a client error if missing, as does metadata without its parts', async () => {
    const address = await deployBox();
    expect(await send(address, {})).toMatchObject({ status: 404 });
    expect(await send(address, { files: {} })).toMatchObject({ status: 404 });
    expect(await sendForm(address, [])).toMatchObject({ status: 404 });
    for (const part of ['compiler', 'language', 'settings', 'sources']) {
      const without = { ...(JSON.parse(metadata) as object), [part]: undefined };
      const files = { 'metadata.json': without, 'Box.sol': SOURCE };
      expect(await send(address, { files })).toMatchObject({ status: 400 });
      const v2 = await post(
        `${service.apiUrl}/v2/verify/metadata/${VERIFIED_CHAIN_ID}/${address}`,
        { metadata: without, sources: { [PATH]: SOURCE } },
      );
      expect([v2.status, await v2.json()]).toMatchObject([
        400,
        { customCode: 'invalid_parameter' },
      ]);
    }
  });

  test('return a timestamp only if the match was stored before the request', async () => {
    const address = await deployBox();
    const files = { 'metadata.json': metadata, 'Box.sol': SOURCE };
    const first = await send(address, { files });
    expect(first).toMatchObject(PERFECT);
    expect(JSON.stringify(first.body)).not.toContain('storageTimestamp');
    const again = await send(address, { files });
    expect(again).toMatchObject({
      status: 200,
      body: { result: [{ storageTimestamp: expect.any(String) as string }] },
    });
  });

  test('of a full match are a plain list, and without a match the message that Remix checks', async () => {
    const address = await deployBox();
    await send(address, { files: { 'metadata.json': metadata, 'Box.sol': SOURCE } });
    const read = async (path: string) => {
      const response = await fetch(`${service.apiUrl}${path}`);
      return [response.status, await response.json()];
    };
    const [, any] = (await read(`/files/any/${VERIFIED_CHAIN_ID}/${address}`)) as [
      number,
      { files: unknown },
    ];
    expect(await read(`/files/${VERIFIED_CHAIN_ID}/${address}`)).toEqual([200, any.files]);
    const [, tree] = (await read(`/files/tree/any/${VERIFIED_CHAIN_ID}/${address}`)) as [
      number,
      { files: unknown },
    ];
    expect(await read(`/files/tree/${VERIFIED_CHAIN_ID}/${address}`)).toEqual([200, tree.files]);
    const folder = `/repository/contracts/full_match/${VERIFIED_CHAIN_ID}/${checksumAddress(`0x${address.slice(2)}`)}`;
    expect(await read(`${folder}/metadata.json`)).toEqual([200, JSON.parse(metadata)]);
    const other = await deployBox();
    const none = [404, { error: 'Files have not been found!' }];
    for (const kind of ['', '/any', '/tree', '/tree/any']) {
      expect(await read(`/files${kind}/${VERIFIED_CHAIN_ID}/${other}`)).toEqual(none);
    }
  });
});
