// The service's signature database as clients use it, with the signatures of a verified contract.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANVIL, describeWith } from './support/needs.ts';
import { deploy } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { post } from './support/verification-client.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const VERSION = '0.8.30';
const SOURCE = `contract Purse {
  struct Coin { address mint; uint96 value; }
  event Filled(address indexed by, Coin[] coins);
  error Empty(uint256 asked);
  function fill(Coin[] calldata coins) external { emit Filled(msg.sender, coins); }
  function take(uint256 asked) external pure { revert Empty(asked); }
}`;
const FILL = '0xf65a729c';

interface Name {
  readonly name: string;
  readonly filtered: boolean;
  readonly hasVerifiedContract: boolean;
}

describeWith([ANVIL], 'the signature database', () => {
  let service: VerifyingService;
  let base: string;
  beforeAll(async () => {
    service = await startVerifyingService(
      (folder) => `compilers: { folder: ${folder} }\nsignatures: { importedMax: 6 }\n`,
    );
    base = `${service.service.apiUrl}/signature-database/v1`;
    const input = inputOf({ 'Purse.sol': SOURCE });
    const { creationCode } = await compileAsDeveloper(VERSION, input, 'Purse.sol', 'Purse');
    const { address } = await deploy(service.anvil, creationCode);
    const job = await service.verify(address, {
      stdJsonInput: input,
      compilerVersion: '0.8.30+commit.73712a01',
      contractIdentifier: 'Purse.sol:Purse',
    });
    expect(job.error).toBeUndefined();
  });
  afterAll(() => service.close());

  const ask = async (path: string): Promise<Record<string, Record<string, Name[] | null>>> => {
    const response = await fetch(`${base}/${path}`);
    expect(response.status).toBe(200);
    const { ok, result } = (await response.json()) as {
      ok: boolean;
      result: Record<string, Record<string, Name[] | null>>;
    };
    expect(ok).toBe(true);
    return result;
  };
  const errorOf = async (response: Promise<Response>) => {
    const answer = await response;
    const body = (await answer.json()) as Record<string, unknown>;
    expect(Object.keys(body).sort()).toEqual(['code', 'error', 'ok'].sort());
    return [answer.status, body['ok'], body['code']];
  };
  const importing = (body: unknown) => post(`${base}/import`, body);

  test('indexes the functions, errors and events of a contract soon after its verification', async () => {
    await expect
      .poll(async () => (await ask(`lookup?function=${FILL}`))['function'], { timeout: 90_000 })
      .toEqual({
        [FILL]: [{ name: 'fill((address,uint96)[])', filtered: false, hasVerifiedContract: true }],
      });
    const found = await ask('search?query=E*');
    expect(Object.values(found['function'] ?? {}).flat()).toEqual([
      { name: 'Empty(uint256)', filtered: false, hasVerifiedContract: true },
    ]);
    const [topic = ''] = Object.keys((await ask('search?query=Filled*'))['event'] ?? {});
    const both = await ask(
      `lookup?event=${topic}&function=${FILL.toUpperCase().replace('X', 'x')}`,
    );
    expect(both['event']?.[topic]).toMatchObject([{ name: 'Filled(address,(address,uint96)[])' }]);
    expect(both['function']?.[FILL]).toHaveLength(1);
  });

  test('returns null for an unknown function and an empty list for an unknown event', async () => {
    const topic = `0x${'ab'.repeat(32)}`;
    expect(await ask(`lookup?function=0xffffffff&event=${topic}`)).toEqual({
      function: { '0xffffffff': null },
      event: { [topic]: [] },
    });
    expect(await ask('lookup')).toEqual({ function: {}, event: {} });
  });

  test('accepts imports from anyone, hashes them itself and reports the result for each', async () => {
    const body = {
      function: ['f(uint256)', 'f(uint256)', 'fill((address,uint96)[])', 'f(uint)', ''],
      event: ['Made(bool)'],
    };
    const first = await importing(body);
    expect(await first.json()).toEqual({
      ok: true,
      result: {
        function: {
          imported: { 'f(uint256)': '0xb3de648b' },
          duplicated: { 'fill((address,uint96)[])': FILL },
          invalid: ['f(uint)', ''],
        },
        event: {
          imported: { 'Made(bool)': expect.stringMatching(/^0x[0-9a-f]{64}$/) as string },
          duplicated: {},
          invalid: [],
        },
      },
    });
    expect((await ask('lookup?function=0xb3de648b'))['function']).toEqual({
      '0xb3de648b': [{ name: 'f(uint256)', filtered: false, hasVerifiedContract: false }],
    });
    const again = (await (await importing({ function: ['f(uint256)'] })).json()) as object;
    expect(again).toMatchObject({
      result: { function: { imported: {}, duplicated: { 'f(uint256)': '0xb3de648b' } } },
    });
  });

  test('returns its counts', async () => {
    const response = await fetch(`${base}/stats`);
    expect(await response.json()).toEqual({
      ok: true,
      result: {
        count: { function: 2, event: 1, error: 1, unknown: 2, total: 6 },
        metadata: { refreshed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string },
      },
    });
  });

  test('has a quota for imports that does not apply to verified contracts', async () => {
    const many = Array.from({ length: 5 }, (_, number) => `spend${number}()`);
    expect(await errorOf(importing({ function: many }))).toEqual([
      403,
      false,
      'signature_budget_spent',
    ]);
    expect((await ask('search?query=spend*'))['function']).toEqual({});
    expect((await importing({ function: many.slice(1) })).status).toBe(200);
    expect(Object.keys((await ask('search?query=spend*'))['function'] ?? {})).toHaveLength(4);
  });

  test('rejects invalid input in its own error format', async () => {
    const invalid = [400, false, 'invalid_parameter'];
    for (const query of [
      ...['function=0x1234', 'event=0xa9059cbb', `function=${'0xa9059cbb,'.repeat(3)}zz`],
      ...['filter=maybe', `function=${hashes(1001)}`],
    ]) {
      expect(await errorOf(fetch(`${base}/lookup?${query}`)), query.slice(0, 40)).toEqual(invalid);
    }
    expect(await errorOf(fetch(`${base}/search`))).toEqual(invalid);
    expect(await errorOf(fetch(`${base}/search?query=*transfer`))).toEqual(invalid);
    expect(await errorOf(importing({ function: 'f()' }))).toEqual(invalid);
    expect(await errorOf(importing({ event: Array(5001).fill('f()') }))).toEqual(invalid);
    expect(await errorOf(importing([]))).toEqual([400, false, 'invalid_json']);
    expect(await errorOf(importing({ function: ['x'.repeat(102_400)] }))).toEqual([
      413,
      false,
      'request_too_large',
    ]);
    expect(await errorOf(fetch(`${base}/import`))).toEqual([405, false, 'method_not_allowed']);
  });

  test('looks up as many hashes as fit into a request', async () => {
    const found = await ask(`lookup?function=${hashes(1000)}`);
    expect(Object.keys(found['function'] ?? {})).toHaveLength(1000);
  });
});

function hashes(count: number): string {
  return Array.from(
    { length: count },
    (_, number) => `0x${(number + 2 ** 24).toString(16).padStart(8, '0')}`,
  ).join(',');
}
