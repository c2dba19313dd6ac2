import { getAddress as checksum } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { pollJob, post, verifyOverV2, type WireJob } from './support/verification-client.ts';

const PATH = 'contracts/Vault.sol';
const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

contract Vault {
    uint256 public immutable limit;
    string public name;
    constructor(uint256 limit_, string memory name_) { limit = limit_; name = name_; }
    function allows(uint256 amount) external view returns (bool) { return amount <= limit; }
}
`;
const VERSION = '0.8.37';
const word = (value: number): string => value.toString(16).padStart(64, '0');
/** limit_ and the string 'v'. */
const argumentsOf = (limit: number): string =>
  `${word(limit)}${word(64)}${word(1)}${'76'.padEnd(64, '0')}`;

describeWith([ANVIL], 'verification over HTTP', () => {
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
    ({ creationCode, metadata } = await compileAsDeveloper(VERSION, input, PATH, 'Vault'));
  });
  afterAll(async () => {
    await service.close();
    await anvil.stop();
    await testDatabase.drop();
  });

  let nextLimit = 1000;
  const deployVault = (): Promise<{ address: string; transactionHash: string }> =>
    deploy(anvil, creationCode, argumentsOf((nextLimit += 1)));
  const bodyOf = (source: string, more: object = {}): object => ({
    stdJsonInput: inputOf({ [PATH]: source }),
    compilerVersion: VERSION,
    contractIdentifier: `${PATH}:Vault`,
    ...more,
  });
  const countsOf = async (): Promise<unknown> => {
    const response = await fetch(`${service.repositoryUrl}/stats.json`);
    return ((await response.json()) as Record<string, unknown>)[String(VERIFIED_CHAIN_ID)];
  };
  const contractAt = async (address: string, query = ''): Promise<Record<string, unknown>> => {
    const url = `${service.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}${query}`;
    return (await (await fetch(url)).json()) as Record<string, unknown>;
  };
  const waitForCounts = async (full: number, partial: number): Promise<void> => {
    await expect
      .poll(countsOf, { interval: 25 })
      .toEqual({ full_match: full, partial_match: partial });
  };
  let full = 0;
  let partial = 0;

  test('the same sources produce full runtime and creation matches, counted in stats.json', async () => {
    const { address, transactionHash } = await deployVault();
    const job = await verifyOverV2(service.apiUrl, address.toUpperCase().replace('0X', '0x'), {
      ...bodyOf(SOURCE, { creationTransactionHash: transactionHash }),
      compilerVersion: `v${VERSION}`,
    });
    expect(job).not.toHaveProperty('error');
    expect(job).toMatchObject({
      isJobCompleted: true,
      contract: { match: 'exact_match', runtimeMatch: 'exact_match', creationMatch: 'exact_match' },
    });
    expect(job.compilationTime).toMatch(/^\d+$/);
    await waitForCounts((full += 1), partial);
    const stored = await contractAt(address, '?fields=all');
    expect(stored).toMatchObject({ match: 'exact_match', chainId: String(VERIFIED_CHAIN_ID) });
    expect(stored).toMatchObject({
      deployment: { transactionHash },
      sources: { [PATH]: { content: SOURCE } },
    });
    const again = await post(
      `${service.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`,
      bodyOf(SOURCE),
    );
    expect(again.status).toBe(409);
    expect(await again.json()).toMatchObject({ customCode: 'already_verified' });
    const lines = service
      .logText()
      .split('\n')
      .filter((line) => line.includes('"verified"'));
    expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
      expect.objectContaining({ event: 'verified', address, name: 'Vault', outcome: 'stored' }),
    );
  });

  test.each([
    ['0.8.37+commit.f401782d', 'in lower case', (address: string) => address.toLowerCase()],
    ['v0.8.37+commit.f401782d', 'checksummed', checksum],
    ['v0.8.37', 'in upper case', (address: string) => `0x${address.slice(2).toUpperCase()}`],
  ])('accepts compiler %s and the address as %s', async (compilerVersion, _, spell) => {
    const { address } = await deployVault();
    const minimal = {
      match: null,
      creationMatch: null,
      runtimeMatch: null,
      chainId: String(VERIFIED_CHAIN_ID),
      address: checksum(address),
    };
    const url = `${service.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${spell(address)}`;
    const before = await fetch(url);
    expect(before.status).toBe(404);
    expect(await before.json()).toEqual(minimal);
    const body = bodyOf(SOURCE, { compilerVersion });
    const job = await verifyOverV2(service.apiUrl, spell(address), body);
    expect(job).toMatchObject({
      contract: {
        ...minimal,
        match: 'exact_match',
        runtimeMatch: 'exact_match',
        creationMatch: 'exact_match',
      },
    });
    await waitForCounts((full += 1), partial);
    expect(await contractAt(spell(address))).toMatchObject({
      address: checksum(address),
      match: 'exact_match',
    });
    const listed = await fetch(
      `${service.apiUrl}/check-all-by-addresses?addresses=${spell(address)}&chainIds=${VERIFIED_CHAIN_ID}`,
    );
    expect(await listed.json()).toMatchObject([{ chainIds: [{ status: 'perfect' }] }]);
  });

  test('a changed comment produces a partial match, upgraded to full by the exact sources', async () => {
    const { address } = await deployVault();
    const changed = await verifyOverV2(service.apiUrl, address, bodyOf(`${SOURCE}// changed\n`));
    expect(changed.contract).toMatchObject({
      match: 'match',
      runtimeMatch: 'match',
      creationMatch: 'match',
    });
    await waitForCounts(full, (partial += 1));
    const right = await verifyOverV2(service.apiUrl, address, bodyOf(SOURCE));
    expect(right.contract.runtimeMatch).toBe('exact_match');
    await waitForCounts((full += 1), (partial -= 1));
  });

  test('other bytecode fails with no_match and both bytecodes, and can be retried afterwards', async () => {
    const { address, transactionHash } = await deployVault();
    const other = bodyOf(SOURCE.replace('amount <= limit', 'amount <  limit'));
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const job = await verifyOverV2(service.apiUrl, address, other);
      expect(['no_match', 'bytecode_length_mismatch']).toContain(job.error?.customCode);
      expect(job.error?.onchainRuntimeCode).toMatch(/^0x[0-9a-f]+$/);
      expect(job.error?.recompiledRuntimeCode).toMatch(/^0x[0-9a-f]+$/);
      expect(job.error?.creationTransactionHash).toBe(transactionHash);
      expect(job.contract.match).toBeNull();
    }
    const answer = await fetch(`${service.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}`);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ match: null });
  });

  test('a creation transaction of another contract is ignored and leaves no trace', async () => {
    const { transactionHash } = await deployVault();
    const { address } = await deployVault();
    const body = bodyOf(SOURCE, { creationTransactionHash: transactionHash });
    const job = await verifyOverV2(service.apiUrl, address, body);
    expect(job.contract).toMatchObject({ runtimeMatch: 'exact_match', creationMatch: null });
    await waitForCounts((full += 1), partial);
    const stored = await contractAt(address, '?fields=all');
    expect(JSON.stringify(stored)).not.toContain(transactionHash);
  });

  test('polling a new job waits for its end, with a limit', async () => {
    const submit = async (apiUrl: string): Promise<string> => {
      const { address } = await deployVault();
      const url = `${apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`;
      const { verificationId } = (await (await post(url, bodyOf(SOURCE))).json()) as WireJob;
      return `${apiUrl}/v2/verify/${verificationId}`;
    };
    const isCompleted = async (url: string): Promise<boolean> =>
      ((await (await fetch(url)).json()) as WireJob).isJobCompleted;
    // A loaded machine may occasionally exceed the waiting time for a new job.
    let atItsEnd = false;
    for (let attempt = 1; attempt <= 5 && !atItsEnd; attempt += 1) {
      atItsEnd = await isCompleted(await submit(service.apiUrl));
      await waitForCounts((full += 1), partial);
    }
    expect(atItsEnd).toBe(true);
    const idleDatabase = await createTestDatabase();
    const idle = await bootService({
      databaseUrl: idleDatabase.url,
      yaml: configOf(anvil, 'verification: { workers: 0 }'),
    });
    try {
      const url = await submit(idle.apiUrl);
      expect(await isCompleted(url)).toBe(false);
      // No longer new: waiting for each of these would exceed the test's timeout.
      for (let number = 0; number < 50; number += 1) expect(await isCompleted(url)).toBe(false);
    } finally {
      await idle.close();
      await idleDatabase.drop();
    }
  });

  test.each([
    ['an address without code', {}, 'contract_not_deployed'],
    ['an unknown compiler', { compilerVersion: '0.8.999' }, 'unsupported_compiler_version'],
    ['an invalid compiler version', { compilerVersion: 'latest' }, 'invalid_compiler_version'],
    [
      'an unknown source path',
      { contractIdentifier: 'Other.sol:Vault' },
      'invalid_compilation_target',
    ],
    [
      'an unknown contract name',
      { contractIdentifier: `${PATH}:Missing` },
      'contract_not_found_in_compiler_output',
    ],
    ['sources that do not compile', { stdJsonInput: inputOf({ [PATH]: 'x' }) }, 'compiler_error'],
    [
      'an interface',
      { stdJsonInput: inputOf({ [PATH]: 'interface Vault {}' }) },
      'compiled_bytecode_is_zero',
    ],
    [
      'an unsupported language',
      { stdJsonInput: { ...inputOf({ [PATH]: SOURCE }), language: 'Fe' } },
      'unsupported_language',
    ],
    [
      'a NUL in a source',
      { stdJsonInput: inputOf({ [PATH]: `${SOURCE}//\0` }) },
      'missing_or_invalid_source',
    ],
  ])('%s fails with its error code and stores nothing', async (title, more, code) => {
    const { address } = title.startsWith('an address')
      ? { address: '0x00000000000000000000000000000000000000ff' }
      : await deployVault();
    const job = await verifyOverV2(service.apiUrl, address, bodyOf(SOURCE, more));
    expect(job.error).toMatchObject({ customCode: code });
    expect(job.error?.errorId).toMatch(/^[0-9a-f-]{36}$/);
    expect((await contractAt(address)).match).toBeNull();
  });

  test('sources with hostile names keep them, and only imported sources are kept', async () => {
    const names = ['../../x', '__proto__', 'x.html', 'a\r\nb', `${'n'.repeat(5000)}.sol`];
    // A path that begins with dots is relative in an import; a remapping leads to it unchanged.
    const imports = names.map((name) => `import ${JSON.stringify(name.replace('../../x', 'up'))};`);
    const source = `${imports.join('\n')}\ncontract Hostile { uint256 public x; }\n`;
    const named = Object.fromEntries(names.map((name) => [name, `// ${name.length}\n`]));
    const settings = { remappings: ['up=../../x'] };
    const input = inputOf({ ...named, [PATH]: source }, settings);
    const compiled = await compileAsDeveloper(VERSION, input, PATH, 'Hostile');
    const { address } = await deploy(anvil, compiled.creationCode, '');
    const more = { 'contracts/AUDITED.sol': '// nobody imports this\n' };
    const job = await verifyOverV2(service.apiUrl, address, {
      stdJsonInput: inputOf({ ...more, ...named, [PATH]: source }, settings),
      compilerVersion: VERSION,
      contractIdentifier: `${PATH}:Hostile`,
    });
    expect(job.contract.runtimeMatch).toBe('exact_match');
    await waitForCounts((full += 1), partial);
    const stored = (await contractAt(address, '?fields=sources')) as { sources: object };
    expect(Object.keys(stored.sources).sort()).toEqual([...names, PATH].sort());
  });

  test('metadata and sources suffice, whatever the sources are named', async () => {
    const { address, transactionHash } = await deployVault();
    const url = `${service.apiUrl}/server/v2/verify/metadata/${VERIFIED_CHAIN_ID}/${address}`;
    const response = await post(url, {
      metadata: JSON.parse(metadata) as object,
      sources: { 'elsewhere.sol': SOURCE.replaceAll('\n', '\r\n') },
      creationTransactionHash: transactionHash,
    });
    expect(response.status).toBe(202);
    const { verificationId } = (await response.json()) as { verificationId: string };
    const job = await pollJob(service.apiUrl, verificationId);
    expect(job.contract).toMatchObject({
      runtimeMatch: 'exact_match',
      creationMatch: 'exact_match',
    });
    await waitForCounts((full += 1), partial);
    const { address: another } = await deployVault();
    const without = await post(url.replace(address, another), {
      metadata: JSON.parse(metadata) as object,
      sources: { [PATH]: `${SOURCE}// changed` },
    });
    const failed = await pollJob(
      service.apiUrl,
      ((await without.json()) as { verificationId: string }).verificationId,
    );
    expect(failed.error?.customCode).toBe('missing_or_invalid_source');
  });

  test.each([
    ['\r\n', '\n'],
    ['\n', '\r\n'],
  ])(
    'a standard JSON input that differs only in line endings matches in full (%j for %j)',
    async (deployed, given) => {
      const textWith = (ending: string): string => SOURCE.replaceAll('\n', ending);
      const input = inputOf({ [PATH]: textWith(deployed) });
      const compiled = await compileAsDeveloper(VERSION, input, PATH, 'Vault');
      const { address } = await deploy(anvil, compiled.creationCode, argumentsOf((nextLimit += 1)));
      const job = await verifyOverV2(service.apiUrl, address, bodyOf(textWith(given)));
      expect(job).toMatchObject({ contract: { match: 'exact_match' } });
      await waitForCounts((full += 1), partial);
      expect(await contractAt(address, '?fields=sources')).toMatchObject({
        sources: { [PATH]: { content: textWith(deployed) } },
      });
    },
  );

  test('API v1 returns the match itself, with JSON and forms, at / and /verify', async () => {
    const { address } = await deployVault();
    const body = {
      address,
      chain: String(VERIFIED_CHAIN_ID),
      files: { 'metadata.json': metadata, 'Vault.sol': SOURCE },
    };
    const response = await post(`${service.apiUrl}/server`, body);
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { result: [{ chainId: String(VERIFIED_CHAIN_ID), status: 'perfect' }] },
    ]);
    await waitForCounts((full += 1), partial);
    const { address: second } = await deployVault();
    const form = new FormData();
    form.set('address', second);
    form.set('chain', String(VERIFIED_CHAIN_ID));
    form.append('files', new File([metadata], 'metadata.json'));
    form.append('files', new File([SOURCE], 'Vault.sol'));
    const sent = await fetch(`${service.apiUrl}/verify`, { method: 'POST', body: form });
    expect([sent.status, await sent.json()]).toMatchObject([
      200,
      { result: [{ status: 'perfect' }] },
    ]);
    await waitForCounts((full += 1), partial);
    const choice = await post(`${service.apiUrl}/`, {
      ...body,
      files: { 'a.json': metadata, 'b.json': metadata, 'Vault.sol': SOURCE },
    });
    expect([choice.status, await choice.json()]).toMatchObject([
      400,
      { contractsToChoose: [{ name: 'Vault', path: PATH }, { name: 'Vault' }] },
    ]);
    const missing = await post(`${service.apiUrl}/`, {
      ...body,
      address: (await deployVault()).address,
      files: { 'm.json': metadata },
    });
    expect(missing.status).toBe(400);
    expect(await missing.json()).toEqual({ error: expect.any(String) as string });
  });

  test('invalid requests are rejected with an error code', async () => {
    const url = `${service.apiUrl}/v2/verify`;
    const address = '0x00000000000000000000000000000000000000ff';
    const answers = [
      [await post(`${url}/999999/${address}`, bodyOf(SOURCE)), 400, 'unsupported_chain'],
      [await post(`${url}/${VERIFIED_CHAIN_ID}/0x12`, bodyOf(SOURCE)), 400, 'invalid_parameter'],
      [await post(`${url}/${VERIFIED_CHAIN_ID}/${address}`, {}), 400, 'invalid_parameter'],
      [
        await fetch(`${url}/${VERIFIED_CHAIN_ID}/${address}`, { method: 'POST', body: '{' }),
        400,
        'invalid_json',
      ],
      [
        await fetch(`${url}/${VERIFIED_CHAIN_ID}/${address}`, {
          method: 'POST',
          body: `{"stdJsonInput":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
        }),
        400,
        'invalid_json',
      ],
      [await fetch(`${url}/${crypto.randomUUID()}`), 404, 'job_not_found'],
      [await fetch(`${url}/none`), 404, 'job_not_found'],
    ] as const;
    for (const [response, status, customCode] of answers) {
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ customCode });
    }
  });

  test('accepts a body above the default limit and rejects one above 30 MB', async () => {
    const url = `${service.apiUrl}/v2/verify/999999/0x00000000000000000000000000000000000000ff`;
    const large = await post(url, bodyOf(`${SOURCE}//${'x'.repeat(3_000_000)}`));
    expect(await large.json()).toMatchObject({ customCode: 'unsupported_chain' });
    const tooLarge = await post(url, bodyOf(`${SOURCE}//${'x'.repeat(32_000_000)}`));
    expect(tooLarge.status).toBe(413);
  });
});
