import { describe, expect, test } from 'vitest';
import { readSubmission, type SubmissionFormat } from './read-submission.ts';

const LIMITS = {
  ...{ depth: 64, values: 2_000, escapes: 2_000 },
  ...{ sources: 20, sourceBytes: 100_000 },
};
const PLACE = { chainId: 1, address: `0x${'22'.repeat(20)}` } as const;
const SOURCE = '# pragma version 0.4.3\nsupply: public(uint256)\n';
const VERSION = 'v0.4.3+commit.bff19ea2';

type Files = Readonly<Record<string, readonly [name: string, text: string]>>;

const read = async (
  way: SubmissionFormat,
  fields: Readonly<Record<string, string>>,
  files: Files = {},
) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [name, [file, text]] of Object.entries(files))
    form.append(name, new Blob([text]), file);
  const request = new Request('http://localhost/', { method: 'POST', body: form });
  const contentType = request.headers.get('content-type') ?? '';
  const bytes = Buffer.from(await request.arrayBuffer());
  return readSubmission(
    bytes,
    { kind: 'blockscout_submission', way, contentType, ...PLACE },
    LIMITS,
  );
};

describe('Vyper submission', () => {
  test("accepts titanoboa's format: standard JSON input named after the contract", async () => {
    const input = {
      language: 'Vyper',
      sources: { 'Token.vy': { content: SOURCE, sha256sum: '00' } },
      settings: { outputSelection: { 'Token.vy': ['*'] } },
      ...{ compiler_version: VERSION, integrity: '00' },
    };
    const files: Files = { 'files[0]': ['Token', JSON.stringify(input)] };
    expect(await read('vyper-standard-input', { compiler_version: VERSION }, files)).toEqual({
      ...PLACE,
      compilation: {
        kind: 'standard_json',
        compilerVersion: VERSION,
        input: {
          language: 'Vyper',
          sources: { 'Token.vy': { content: SOURCE } },
          settings: { outputSelection: { 'Token.vy': ['*'] } },
        },
      },
    });
  });

  test('accepts a single file, or several with interfaces', async () => {
    const fields = { compiler_version: VERSION, contract_name: 'Token', evm_version: 'cancun' };
    expect(await read('vyper-code', { ...fields, source_code: SOURCE })).toMatchObject({
      compilation: {
        contractIdentifier: 'Token.vy:Token',
        input: { sources: { 'Token.vy': { content: SOURCE } }, settings: { evmVersion: 'cancun' } },
      },
    });
    const several = await read('vyper-multi-part', fields, {
      'files[0]': ['src/Token.vy', SOURCE],
      'interfaces[0]': ['IToken.json', '[]'],
    });
    expect(several).toMatchObject({
      compilation: {
        contractIdentifier: 'src/Token.vy:Token',
        input: {
          sources: { 'src/Token.vy': { content: SOURCE } },
          interfaces: '{"IToken.json":{"abi":[]}}',
        },
      },
    });
  });
});

describe('Rejected submissions', () => {
  const compiler = { compiler_version: VERSION };
  const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
  const many = JSON.stringify(Array.from({ length: 3_000 }, () => 1));
  test.each<[string, SubmissionFormat, Record<string, string>, Files, string]>([
    ['deep JSON', 'standard-input', compiler, { 'files[0]': ['a.json', deep] }, 'invalid_json'],
    [
      'many values',
      'standard-input',
      compiler,
      { 'files[0]': ['a.json', many] },
      'request_too_many_values',
    ],
    [
      'libraries of many values',
      'flattened-code',
      { ...compiler, source_code: 'contract A {}', libraries: many },
      {},
      'request_too_many_values',
    ],
    [
      'a long name',
      'flattened-code',
      { ...compiler, source_code: 'contract A {}', contract_name: 'A'.repeat(3_000) },
      {},
      'invalid_parameter',
    ],
    [
      'many files',
      'multi-part',
      compiler,
      Object.fromEntries(
        Array.from(
          { length: 30 },
          (_, at) => [`files[${at}]`, [`${at}.sol`, 'contract A {}']] as const,
        ),
      ),
      'request_too_many_sources',
    ],
    [
      'constructor arguments that are no digits',
      'flattened-code',
      {
        ...{ ...compiler, source_code: 'contract A {}' },
        ...{ constructor_args: 'xy', autodetect_constructor_args: 'false' },
      },
      {},
      'invalid_parameter',
    ],
  ])('rejects %s', async (_what, way, fields, files, code) => {
    await expect(read(way, fields, files)).rejects.toMatchObject({ code });
  });
});
