import { describe, expect, test } from 'vitest';

import { type ChainDetails } from '../../web/src/answers.ts';
import {
  type EndpointHealth,
  findWarnings,
  loadChain,
  pairUrls,
} from '../../web/src/chain/chain-data.ts';
import { createApi } from '../../web/src/api.ts';

const endpoint = (label: string, more: Partial<EndpointHealth> = {}): EndpointHealth => ({
  label,
  public: true,
  state: 'up',
  reasons: [],
  archive: 'unknown',
  trace: 'unknown',
  ...more,
});

describe('endpoint URLs', () => {
  const [a1, a2, b] = [endpoint('a.example'), endpoint('a.example-2'), endpoint('b.example')];
  const hidden = endpoint('private-1', { public: false });
  const urls = ['https://a.example', 'https://a.example/x', 'wss://b.example'];

  test('follow the order of `rpc`, skipping private endpoints', () => {
    expect([...pairUrls([hidden, a1, a2, b], urls)]).toEqual([
      [a1, urls[0]],
      [a2, urls[1]],
      [b, urls[2]],
    ]);
  });

  test('are omitted if the two lists are from different times', () => {
    expect(pairUrls([a1, b], urls).size).toBe(0);
    expect(pairUrls([b, a1], urls.slice(0, 2)).get(b)).toBeUndefined();
    expect(pairUrls([a1], ['no url']).size).toBe(0);
  });
});

describe('chain warnings', () => {
  const details: ChainDetails = {
    record: { name: 'x', chainId: 1, rpc: [], supported: true, monitored: false },
    testnet: false,
    local: false,
    hasIcon: false,
    origins: {},
    findings: [],
    endpoints: [],
    list: { source: '', sha256: '' },
  };

  test('are empty when nothing is wrong', () => {
    const findings = [{ level: 'info', code: 'rpc_left_out', message: 'x' }] as const;
    expect(findWarnings({ ...details, findings }, undefined)).toEqual([]);
  });

  test('name reused ids, deprecated chains, foreign endpoints and findings', () => {
    const record = {
      ...details.record,
      status: 'deprecated',
      redFlags: ['reusedChainId', 'other'],
    };
    const findings = [{ level: 'warning', code: 'reused_chain_id', message: 'x' }] as const;
    const health = {
      state: 'degraded',
      reasons: [],
      endpoints: [endpoint('a', { state: 'wrong_chain' }), endpoint('b')],
    };
    const codes = findWarnings({ ...details, record, findings }, health).map(({ code }) => code);
    expect(codes).toEqual([
      'reusedChainId',
      'other',
      'deprecated',
      'wrong_chain',
      'reused_chain_id',
    ]);
  });
});

describe('public list flags', () => {
  test.each(['__proto__', 'constructor', 'toString'])('may be any text: %s', (flag) => {
    const record = {
      name: 'x',
      chainId: 1,
      rpc: [],
      supported: true,
      monitored: false,
      redFlags: [flag],
    };
    const details = { record, testnet: false, local: false, origins: {}, findings: [] };
    const text = `The public list marks this chain: ${flag}.`;
    expect(findWarnings(details, undefined)).toEqual([{ code: flag, text }]);
  });
});

describe('loading a chain', () => {
  test('requests by id after the first response and keeps what it could read', async () => {
    const asked: string[] = [];
    const claimed = { full: 2, partial: 0 };
    const api = createApi(async (path) => {
      asked.push(path);
      if (path === 'v1/chains/a%2Fb') {
        return Response.json({ record: { chainId: 7 } });
      }
      return path === 'v1/statistics'
        ? Response.json({ chains: [{ chainId: 7, full: 3, partial: 0, claimed }] })
        : Response.json({ code: 'database_unreachable', detail: 'x' }, { status: 503 });
    });
    const { details, rest } = await loadChain(api, 'a/b');
    expect(details.state).toBe('ready');
    expect(asked).toContain('v1/statistics/history?chain=7');
    expect(rest?.counts).toMatchObject({ state: 'ready', value: { full: 1, claimed: 2 } });
    expect(rest?.history).toMatchObject({ state: 'failed', code: 'database_unreachable' });
    expect(rest?.latest.state).toBe('failed');
  });

  test('stops if the chain does not exist', async () => {
    const api = createApi(async () =>
      Response.json({ code: 'chain_not_found', detail: 'x' }, { status: 404 }),
    );
    expect(await loadChain(api, '9')).toMatchObject({ details: { status: 404 } });
    expect((await loadChain(api, '9')).rest).toBeUndefined();
  });
});
