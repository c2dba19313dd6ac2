import { describe, expect, test } from 'vitest';
import cases from '../../test/cases/import/metadata.json' with { type: 'json' };
import { parseMetadata } from './parse-metadata.ts';

const HASH = `0x${'ab'.repeat(32)}`;

const sound = (): Record<string, unknown> => ({
  compiler: { version: '0.8.37+commit.12345678' },
  language: 'Solidity',
  output: { abi: [{ type: 'fallback' }], devdoc: { kind: 'dev' }, userdoc: {} },
  settings: { compilationTarget: { 'A.sol': 'A' }, optimizer: { enabled: false } },
  sources: { 'A.sol': { keccak256: HASH, urls: [] } },
  version: 1,
});

const parse = (document: unknown) => parseMetadata(Buffer.from(JSON.stringify(document)));

interface MetadataCase {
  readonly title: string;
  readonly reason: string;
  readonly text?: string;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly escapedSource?: string;
}

function textOf({ text, set, escapedSource }: MetadataCase): string {
  if (text !== undefined) return text;
  const document = JSON.stringify({ ...sound(), ...set });
  return escapedSource === undefined ? document : document.replaceAll('A.sol', escapedSource);
}

describe('parseMetadata', () => {
  test("converts the compiler's metadata and keeps the text", () => {
    const text = JSON.stringify(sound(), null, 3);
    expect(parseMetadata(Buffer.from(text))).toEqual({
      text,
      language: 'solidity',
      compiler: 'solc',
      version: '0.8.37+commit.12345678',
      target: { path: 'A.sol', name: 'A' },
      settings: { optimizer: { enabled: false } },
      artifacts: { abi: [{ type: 'fallback' }], devdoc: { kind: 'dev' }, userdoc: {} },
      sources: [{ path: 'A.sol', keccak256: HASH }],
    });
  });

  test.each(cases as MetadataCase[])('rejects $title', (metadataCase) => {
    expect(() => parseMetadata(Buffer.from(textOf(metadataCase)))).toThrow(
      expect.objectContaining({ name: 'Refusal', reason: metadataCase.reason }),
    );
  });

  test('parses 100,000 libraries without a path quickly', () => {
    const names = Array.from({ length: 100_000 }, (_each, index) => `L${index}`);
    const libraries = Object.fromEntries(names.map((name) => [name, '0x']));
    const begun = process.cpuUsage();
    const { settings } = parse({
      ...sound(),
      settings: { compilationTarget: { 'A.sol': 'A' }, libraries },
    });
    // Copying the list for each of them would take minutes.
    expect(process.cpuUsage(begun).user).toBeLessThan(5_000_000);
    expect(settings['libraries']).toEqual({ '': libraries });
  });

  test('rejects more values than real metadata has', () => {
    const abi = Array.from({ length: 300_000 }, () => []);
    expect(() => parse({ ...sound(), output: { abi } })).toThrow(
      expect.objectContaining({ reason: 'broken_metadata' }),
    );
  });

  test('rejects a contract name over 1,024 bytes', () => {
    const named = (name: string): object => ({
      ...sound(),
      settings: { compilationTarget: { 'A.sol': name } },
    });
    expect(parse(named('a'.repeat(1_024))).target.name).toHaveLength(1_024);
    expect(() => parse(named('a'.repeat(1_025)))).toThrow(
      expect.objectContaining({ reason: 'broken_metadata' }),
    );
  });

  test('rejects invalid UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from(JSON.stringify(sound())), Buffer.from([0xc0])]);
    expect(() => parseMetadata(bytes)).toThrow(expect.objectContaining({ reason: 'invalid_utf8' }));
  });

  test('omits artifacts missing from the metadata', () => {
    expect(parse({ ...sound(), output: undefined }).artifacts).toEqual({});
    expect(parse({ ...sound(), output: { abi: [] } }).artifacts).toEqual({ abi: [] });
  });

  test('recognizes the Vyper compiler and strips the v of its version', () => {
    const document = {
      ...sound(),
      language: 'Vyper',
      compiler: { version: 'v0.4.1b4+commit.abc' },
    };
    expect(parse(document)).toMatchObject({
      language: 'vyper',
      compiler: 'vyper',
      version: '0.4.1b4+commit.abc',
    });
  });

  test('nests libraries as in standard JSON input, split at the last colon', () => {
    const libraries = {
      'p:/a.sol:L': '0x1',
      'p:/a.sol:M': '0x2',
      Old: '0x3',
      '__proto__:P': '0x4',
    };
    const text = JSON.stringify({
      ...sound(),
      settings: { compilationTarget: { 'A.sol': 'A' }, libraries },
    });
    const { settings } = parseMetadata(Buffer.from(text));
    expect(JSON.stringify(settings)).toBe(
      '{"libraries":{"p:/a.sol":{"L":"0x1","M":"0x2"},"":{"Old":"0x3"},"__proto__":{"P":"0x4"}}}',
    );
  });

  test('accepts __proto__ as a source name', () => {
    const text = JSON.stringify(sound()).replaceAll('A.sol', '__proto__');
    expect(parseMetadata(Buffer.from(text))).toMatchObject({
      target: { path: '__proto__', name: 'A' },
      sources: [{ path: '__proto__', keccak256: HASH }],
    });
  });

  test('handles deeply nested metadata', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const text = JSON.stringify(sound()).replace('[]', deep);
    expect(parseMetadata(Buffer.from(text)).sources).toHaveLength(1);
  });
});
