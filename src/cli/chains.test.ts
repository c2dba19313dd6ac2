import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runInProcess } from '../../test/support/run-cli.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'fullmatch-chains-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const currency = { name: 'Ether', symbol: 'ETH', decimals: 18 };
const record = (chainId: number, name: string, shortName: string) => ({
  name,
  chain: 'ETH',
  rpc: [`https://rpc-${chainId}.example`],
  faucets: [],
  nativeCurrency: currency,
  infoURL: 'https://example.org',
  shortName,
  chainId,
  networkId: chainId,
});
writeFileSync(
  path.join(folder, 'list.json'),
  JSON.stringify([record(7, 'Seven\u001b[31m', 'seven'), record(5, 'Five Testnet', 'five')]),
);
writeFileSync(
  path.join(folder, 'fullmatch.yaml'),
  `registry: { list: list.json, defaults: false }
chains:
  7:
    monitor: true
    title: The seventh
    privateRpc: ["https://rpc.example/\${RPC_KEY}"]
    contractFetchAddress: "https://explorer.example/\${ADDRESS}"
    txRegex: 'tx/(0x\\w{64})'
`,
);
const environment: Record<string, string> = { RPC_KEY: 'correct-horse-battery' };
const run = (...args: string[]) =>
  runInProcess(['chains', ...args], { environment, workingDirectory: folder });

describe('fullmatch chains list', () => {
  test('prints chains by ascending id', async () => {
    const { exitCode, stdout } = await run('list');
    expect(exitCode).toBe(0);
    const rows = stdout.trimEnd().split('\n');
    expect(rows.slice(1).map((row) => row.split(/ +/)[0])).toEqual(['5', '7']);
  });

  test('prints only supported chains with --supported', async () => {
    const { stdout } = await run('list', '--supported', '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ chainId: 7, supported: true, monitored: false }]);
  });

  test('prints one record per line with --ndjson, equal to --json', async () => {
    const [lines, array] = [await run('list', '--ndjson'), await run('list', '--json')];
    const values = lines.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(values).toEqual(JSON.parse(array.stdout));
    expect(values).toHaveLength(2);
  });

  test('escapes terminal control characters in names', async () => {
    expect((await run('list')).stdout).not.toContain('\u001b');
    expect((await run('show', '7')).stdout).not.toContain('\u001b');
  });
});

describe('fullmatch chains show', () => {
  test.each(['7', '0x7', 'eip155:7', 'seven'])(
    'finds a chain by %s and prints the origins of its fields',
    async (ref) => {
      const { stdout } = await run('show', ref, '--json');
      expect(JSON.parse(stdout)).toMatchObject({
        record: { chainId: 7, title: 'The seventh' },
        origins: { name: 'list', title: 'configuration', monitored: 'configuration' },
      });
      const text = (await run('show', ref)).stdout;
      expect(text).toMatch(/^title +configuration +The seventh$/m);
      expect(text).toMatch(/^txRegex .* tx\/\(0x\\w\{64\}\)$/m);
      expect(text).toContain('not published: 1');
      expect(text).not.toContain('correct-horse');
    },
  );

  test.each([
    ['99', 'chain_not_found'],
    ['0', 'invalid_parameter'],
  ])('rejects %s with %s', async (ref, code) => {
    const { exitCode, stderr } = await run('show', ref);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`error[${code}]`);
  });
});

describe('fullmatch chains check', () => {
  test('prints the findings and exits 0 if none is an error', async () => {
    const { exitCode, stdout } = await run('check', '--json');
    const report = JSON.parse(stdout) as { chains: number; findings: { level: string }[] };
    expect(report.chains).toBe(2);
    expect(report.findings.filter(({ level }) => level === 'error')).toEqual([]);
    expect(exitCode).toBe(0);
    expect((await run('check')).stdout).toContain('2 chains, 1 supported');
  });

  test('rejects a secret in a public field, naming the chain but not the secret', async () => {
    const file = path.join(folder, 'leak.yaml');
    const text = `registry: { list: list.json }
chains:
  7:
    rpc: ["https://rpc.example/correct-horse-battery"]
    privateRpc: ["https://rpc.example/\${RPC_KEY}"]`;
    writeFileSync(file, text);
    const { exitCode, stdout, stderr } = await run('check', '--config', file);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain('error[secret_in_document]');
    expect(stderr).toContain('7');
    expect(stderr).not.toContain('correct-horse');
  });

  test('rejects a malformed list', async () => {
    writeFileSync(path.join(folder, 'broken.json'), '[{');
    const file = path.join(folder, 'broken.yaml');
    writeFileSync(file, 'registry: { list: broken.json }');
    const { exitCode, stderr } = await run('check', '--config', file);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('error[invalid_chain_list]');
  });
});
