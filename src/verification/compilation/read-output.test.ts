import { describe, expect, test } from 'vitest';
import { readOutputImmutables, readTargetOutput } from './read-output.ts';

const version = '0.8.37+commit.f401782d';
const raw = (output: unknown): { bytes: Buffer; version: string } => ({
  bytes: Buffer.from(typeof output === 'string' ? output : JSON.stringify(output)),
  version,
});
const target = { path: '__proto__', name: 'constructor' };

describe('Parsed compiler output', () => {
  test('contains the target, the source ids and the needed assembly', () => {
    const push = { name: 'PUSHLIB', value: 'a.sol:L', begin: 1, end: 2, source: 0 };
    const output = `{
      "sources": {"__proto__": {"id": 1, "ast": {"nodes": []}}},
      "contracts": {"b.sol": {"B": {"abi": []}}, "__proto__": {"Other": {}, "constructor": {
        "abi": [], "metadata": "{}", "ir": "large", "evm": {
          "bytecode": {"object": "00", "opcodes": "STOP", "linkReferences": {}},
          "deployedBytecode": {"object": "00", "immutableReferences": {"7": []}},
          "legacyAssembly": {".code": [${JSON.stringify(push)}, {"name": "PUSH"}, ${JSON.stringify(push)}],
            ".data": {"0": {".auxdata": "a1", ".code": [], ".data": {"ff": "00"}}, "aa": "text"}}}}}}}`;
    const read = readTargetOutput(raw(output), target);
    const library = { name: 'PUSHLIB', value: 'a.sol:L' };
    expect(JSON.parse(JSON.stringify(read))).toEqual(
      JSON.parse(`{"errors": [], "sources": {"__proto__": {"id": 1}},
        "contracts": {"b.sol": {}, "__proto__": {"constructor": {"abi": [], "metadata": "{}", "evm": {
          "bytecode": {"object": "00", "linkReferences": {}},
          "deployedBytecode": {"object": "00", "immutableReferences": {"7": []}},
          "legacyAssembly": {".code": [${JSON.stringify(library)}],
            ".data": {"0": {".auxdata": "a1", ".code": [], ".data": {}}}}}}}}}`),
    );
    expect(JSON.stringify(structuredClone(read))).toBe(JSON.stringify(read));
  });

  test('contains at most ten truncated errors and no warnings', () => {
    const message = (severity: string) => ({ severity, type: 'T', message: 'x'.repeat(1e5) });
    const errors = [message('warning'), ...Array.from({ length: 50 }, () => message('error'))];
    const read = readTargetOutput(raw({ errors }), target).errors ?? [];
    expect(read).toHaveLength(10);
    expect(read.every(({ severity }) => severity === 'error')).toBe(true);
    expect(JSON.stringify(read).length).toBeLessThan(50_000);
  });

  test.each([
    ['compiler_crashed', 'no JSON'],
    ['compiler_out_of_memory', { errors: [{ severity: 'error', message: 'std::bad_alloc' }] }],
    [
      'invalid_compiler_input',
      { errors: [{ severity: 'error', message: 'Source "https://a/b" not found: File b' }] },
    ],
  ])('is rejected with %s', (code, output) => {
    expect(() => readTargetOutput(raw(output), target)).toThrow(expect.objectContaining({ code }));
    expect(() => readOutputImmutables(raw(output))).toThrow(expect.objectContaining({ code }));
  });
});
