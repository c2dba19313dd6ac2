import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { type FilteringNode, startFilteringNode } from './support/filtering-node.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { pollJob, post, verifyOverV2 } from './support/verification-client.ts';
import { readContract } from './support/verifying-service.ts';
import { waitUntil } from './support/wait-for.ts';

const sourceOf = (name: string, comment: string): string =>
  `// SPDX-License-Identifier: MIT${comment}
pragma solidity ^0.8.0;
contract ${name} { function ${name.toLowerCase()}() external pure returns (uint256) { return 1; } }
`;
const inputOfContract = (name: string, comment = '') =>
  inputOf({ [`${name}.sol`]: sourceOf(name, comment) });
const bodyOf = (name: string, comment: string, creationTransactionHash: Hex): object => ({
  stdJsonInput: inputOfContract(name, comment),
  compilerVersion: '0.8.37',
  contractIdentifier: `${name}.sol:${name}`,
  creationTransactionHash,
});
/** Longer than the maximum age of a reading when its match is stored. */
const LONG_MS = 3_200;

describeWith([ANVIL], 'bytecode replaced during verification', () => {
  let anvil: Anvil;
  let node: FilteringNode;
  let testDatabase: TestDatabase;
  let service: BootedService;
  const creationCodes = { First: '', Second: '' };
  let secondCode: Hex;
  /** Transaction of a contract elsewhere: naming it skips the search. */
  let otherCreation: Hex;
  let address: Hex;
  let creation: Hex;

  beforeAll(async () => {
    [anvil, testDatabase] = await Promise.all([
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      createTestDatabase(),
    ]);
    node = await startFilteringNode(anvil.url);
    for (const name of ['First', 'Second'] as const) {
      const input = inputOfContract(name);
      const compiled = await compileAsDeveloper('0.8.37', input, `${name}.sol`, name);
      creationCodes[name] = compiled.creationCode;
    }
    const second = await deploy(anvil, creationCodes.Second);
    otherCreation = second.transactionHash;
    secondCode = await anvil.request<Hex>('eth_getCode', [second.address, 'latest']);
    service = await bootService({
      databaseUrl: testDatabase.url,
      yaml: configOf({ url: node.url }, 'verification: { workers: 2, recheckRoundSeconds: 0 }\n'),
    });
  });
  afterAll(async () => {
    await service.close();
    await node.close();
    await anvil.stop();
    await testDatabase.drop();
  });
  beforeEach(async () => {
    ({ address, transactionHash: creation } = await deploy(anvil, creationCodes.First));
  });

  /** Submits the full sources of the first bytecode; after reading the bytecode the job waits until it is released. */
  const beginSlowJob = async (): Promise<{ readonly end: () => ReturnType<typeof pollJob> }> => {
    let letGo = (): void => undefined;
    const released = new Promise<void>((resolve) => (letGo = resolve));
    const reached = new Promise<void>((resolve) => {
      node.filter = {
        changes: async (method, [hash], result) => {
          if (method === 'eth_getTransactionReceipt' && hash === creation) {
            resolve();
            await released;
          }
          return result;
        },
      };
    });
    const submitted = await post(
      `${service.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`,
      bodyOf('First', '', creation),
    );
    const { verificationId } = (await submitted.json()) as { verificationId: string };
    await reached;
    return {
      end: () => {
        letGo();
        return pollJob(service.apiUrl, verificationId);
      },
    };
  };
  /** Waits until the reading counts as outdated. */
  const untilOutdated = (): Promise<void> => {
    const outdatedAt = Date.now() + LONG_MS;
    return waitUntil(() => Date.now() > outdatedAt);
  };
  const replaceCode = async (): Promise<void> => {
    await anvil.request('anvil_setCode', [address, secondCode]);
    await anvil.request('anvil_mine', ['0x1']);
  };
  const verify = (name: string, comment: string) =>
    verifyOverV2(service.apiUrl, address, bodyOf(name, comment, otherCreation));
  const published = async (): Promise<unknown> => {
    const { match, compilation } = await readContract(service, VERIFIED_CHAIN_ID, address);
    return { match, name: compilation?.['name'] };
  };
  const eventsOf = async (): Promise<unknown> => {
    const url = `${service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${address}/events`;
    const { results } = (await (await fetch(url)).json()) as {
      results: readonly { kind: string; reason?: string }[];
    };
    return results.map(({ kind, reason }) => reason ?? kind);
  };

  test('is not stored, and the match of the current bytecode stays', async () => {
    const job = await beginSlowJob();
    await replaceCode();
    expect((await verify('Second', ' again')).contract.runtimeMatch).toBe('match');
    const { error } = await job.end();
    expect(error?.customCode).toBe('no_match');
    expect(await published()).toEqual({ match: 'match', name: 'Second' });
    expect(await eventsOf()).toEqual(['stored']);
  });

  test('is not stored after its match was withdrawn', async () => {
    expect((await verify('First', ' again')).contract.runtimeMatch).toBe('match');
    const job = await beginSlowJob();
    await replaceCode();
    expect((await verify('First', ' other')).error?.customCode).toBe('no_match');
    expect((await job.end()).error?.customCode).toBe('no_match');
    expect(await published()).toMatchObject({ match: null });
    expect(await eventsOf()).toEqual(['code_replaced', 'stored']);
  });

  test('is reread before storing if it was read more than a few seconds ago', async () => {
    const job = await beginSlowJob();
    await replaceCode();
    await untilOutdated();
    expect((await job.end()).error?.customCode).toBe('no_match');
    expect(await eventsOf()).toEqual([]);
  });

  test('is stored with the later reading if unchanged', async () => {
    const job = await beginSlowJob();
    await anvil.request('anvil_mine', ['0x5']);
    const { number } = await anvil.request<{ number: Hex }>('eth_getBlockByNumber', [
      'latest',
      false,
    ]);
    await untilOutdated();
    expect((await job.end()).contract.match).toBe('exact_match');
    const url = `${service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${address}`;
    const { codeReading } = (await (await fetch(url)).json()) as {
      codeReading: { blockNumber: number };
    };
    expect(codeReading.blockNumber).toBe(Number(number));
  });
});
