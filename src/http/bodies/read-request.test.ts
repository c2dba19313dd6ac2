import { describe, expect, test } from 'vitest';
import { type BodyForm, readRequest } from './read-request.ts';

const LIMITS = {
  ...{ depth: 64, values: 200_000, escapes: 200_000 },
  ...{ sources: 2_000, sourceBytes: 10_000 },
};
const FORM: BodyForm<'standard_json'> = {
  kind: 'standard_json',
  chainId: 1,
  address: `0x${'22'.repeat(20)}`,
};

/** Metadata members that every compiler writes, apart from the sources. */
const WRITTEN = {
  compiler: { version: '0.8.37' },
  language: 'Solidity',
  settings: { compilationTarget: { 'a.sol': 'A' } },
};

const codeOfError = (error: unknown): string => String((error as { code?: unknown }).code);

const codeOf = async (
  sources: object,
  settings: object = {},
  form: BodyForm = FORM,
): Promise<string> => {
  const body =
    form.kind === 'metadata'
      ? { sources: { 'a.sol': '' }, metadata: { ...WRITTEN, ...settings, sources } }
      : {
          stdJsonInput: { language: 'Solidity', sources, settings },
          compilerVersion: '0.8.37',
          contractIdentifier: 'a.sol:A',
        };
  try {
    await readRequest(Buffer.from(JSON.stringify(body)), form, LIMITS);
    return 'taken';
  } catch (error) {
    return codeOfError(error);
  }
};

describe('Verification request', () => {
  test.each(['contractIdentifier', 'compilerVersion'])(
    'rejects too much text in %s',
    async (name) => {
      const body = {
        stdJsonInput: { language: 'Solidity', sources: { 'a.sol': { content: '' } }, settings: {} },
        compilerVersion: '0.8.37',
        contractIdentifier: 'a.sol:A',
        [name]: `a.sol:${'A'.repeat(10_001)}`,
      };
      const read = readRequest(Buffer.from(JSON.stringify(body)), FORM, LIMITS);
      await expect(read).rejects.toMatchObject({ code: 'request_too_large' });
    },
  );

  const LONG = 'a'.repeat(8_000);
  const ADDRESS = `0x${'11'.repeat(20)}`;
  const libraries = Array.from({ length: 9_000 }, (_, index) => `L${index}`);
  test.each([
    [
      'a path beyond the bounds',
      { files: { [`${'a/'.repeat(300_000)}b.sol`]: 'import"./a";'.repeat(3_000) } },
      'source_path_too_long',
    ],
    [
      'remappings beyond the bounds',
      {
        files: { [`${LONG}.sol`]: 'import"b";'.repeat(20_000) },
        remappings: Array.from({ length: 50 }, () => `${LONG}:b=c`),
      },
      'invalid_parameter',
    ],
    [
      'more imports than any project has',
      {
        files: {
          'a.sol': Array.from({ length: 20_001 }, (_, index) => `import"${index}";`).join(''),
        },
      },
      'invalid_parameter',
    ],
    [
      'thousands of libraries without their paths, each looked up once',
      {
        files: { 'a.sol': libraries.map((name) => `library ${name}{}`).join('') },
        libraries: Object.fromEntries(libraries.map((name) => [name, ADDRESS])),
        contract: 'L0',
      },
      'taken',
    ],
  ])('checks plain sources with %s', async (_what, body, expected) => {
    const bytes = Buffer.from(JSON.stringify({ ...body, compilerVersion: '0.8.37' }));
    const limits = { ...LIMITS, sourceBytes: 10_000_000 };
    const read = readRequest(bytes, { ...FORM, kind: 'sources' }, limits);
    expect(
      await read.then(
        () => 'taken',
        (error: unknown) => codeOfError(error),
      ),
    ).toBe(expected);
  });

  test.each([
    ['few', 2, 60_000, 'choices'],
    ['much', 2, 140_000, 'request_too_large'],
    ['much, by many contracts', 1_500, 100, 'request_too_large'],
  ])(
    'checks several contracts with %s text in their names',
    async (_what, count, length, expected) => {
      const metadata = {
        compiler: { version: '0.8.37' },
        language: 'Solidity',
        settings: { compilationTarget: { ['p'.repeat(length)]: 'N'.repeat(length) } },
        sources: {},
        version: 1,
        output: {},
      };
      const files = Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`${index}.json`, JSON.stringify(metadata)]),
      );
      const body = Buffer.from(JSON.stringify({ address: FORM.address, chain: '1', files }));
      const read = readRequest(body, { kind: 'v1', contentType: 'application/json' }, LIMITS);
      expect(await read.then((value) => Object.keys(value)[0], codeOfError)).toBe(expected);
    },
  );

  test.each([
    ['8,192 bytes', 'a'.repeat(8_192), 'taken'],
    ['8,193 bytes', 'a'.repeat(8_193), 'source_path_too_long'],
    ['more bytes than letters', 'é'.repeat(4_097), 'source_path_too_long'],
    ['1,000 parts', 'a/'.repeat(999), 'taken'],
    ['1,001 parts', 'a/'.repeat(1_000), 'source_path_too_long'],
  ])('checks a source path of %s', async (_what, path, code) => {
    const sources = { [path]: { content: '' } };
    expect(await codeOf(sources)).toBe(code);
    const named = { [path]: { keccak256: `0x${'00'.repeat(32)}` } };
    expect(await codeOf(named, {}, { ...FORM, kind: 'metadata' })).toBe(code);
  });

  test.each([
    ['in the sources', { 'a.sol': { content: 'x'.repeat(10_001) } }, {}],
    ['in the settings', { 'a.sol': { content: '' } }, { content: 'x'.repeat(10_001) }],
  ])('rejects more text than allowed %s', async (_what, sources, settings) => {
    expect(await codeOf(sources, settings)).toBe('request_too_large');
    expect(
      await codeOf({ 'a.sol': { content: 'x'.repeat(9_000) } }, { y: 'x'.repeat(9_000) }),
    ).toBe('taken');
  });
});

describe('Interfaces of a Vyper request', () => {
  const forms: Readonly<Record<string, readonly [BodyForm, (abis: object) => object]>> = {
    Blockscout: [
      { kind: 'blockscout', language: 'vyper', sources: 'multi_part', isBatch: false },
      (interfaces) => ({
        ...{ bytecode: '0x00', bytecodeType: 'DEPLOYED_BYTECODE', compilerVersion: 'v0.3.10' },
        ...{ sourceFiles: { 'a.vy': '' }, interfaces },
      }),
    ],
    sources: [
      { ...FORM, kind: 'sources' },
      (abis) => ({
        ...{ language: 'Vyper', compilerVersion: '0.3.10', files: { 'a.vy': '', ...abis } },
      }),
    ],
  };
  const read = async (name: string, abis: Readonly<Record<string, string>>): Promise<string> => {
    const [form, bodyOf] = forms[name] ?? [];
    if (form === undefined || bodyOf === undefined) throw new Error(name);
    const bytes = Buffer.from(JSON.stringify(bodyOf(abis)));
    try {
      await readRequest(bytes, form, { ...LIMITS, values: 1000 });
      return 'taken';
    } catch (error) {
      return codeOfError(error);
    }
  };
  const values = (count: number): string => `[${Array(count).fill('0').join()}]`;

  test.each<[string, Readonly<Record<string, string>>, string]>([
    ['with few values are taken', { 'a.json': values(400), 'b.json': values(400) }, 'taken'],
    ['with many values are refused', { 'a.json': values(1001) }, 'request_too_many_values'],
    [
      'are counted together',
      { 'a.json': values(600), 'b.json': values(600) },
      'request_too_many_values',
    ],
    ['that nest deeply are refused', { 'a.json': '['.repeat(65) + ']'.repeat(65) }, 'invalid_json'],
    ['that are no JSON are refused', { 'a.json': '{' }, 'invalid_json'],
  ])('%s', async (_what, interfaces, code) => {
    for (const name of Object.keys(forms)) expect(await read(name, interfaces), name).toBe(code);
  });
});
