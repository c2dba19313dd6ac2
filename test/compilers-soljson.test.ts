import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { takeWasm } from '../src/compilers/processes/child/soljson-text.mjs';
import { type CompilerFile } from '../src/compilers/compiler-file.ts';
import { DEFAULT_LIMITS } from '../src/compilers/processes/compiler-limits.ts';
import { probeIsolation } from '../src/compilers/processes/isolation.ts';
import { SoljsonProcess } from '../src/compilers/processes/soljson-process.ts';
import { FullmatchError } from '../src/errors.ts';
import { SOLC_VERSIONS, solcPackageOf } from './support/solc-packages.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';

const NEWEST = '0.8.37+commit.f401782d';
const INPUT = Buffer.from(
  JSON.stringify({
    language: 'Solidity',
    sources: { 'a.sol': { content: 'contract A {}' } },
    settings: { outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
  }),
);

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function readSoljson(longVersion: string): string {
  return readFileSync(path.join(solcPackageOf(longVersion), 'soljson.js'), 'latin1');
}

/** Starts a process with the given soljson text. */
async function start(text: string, more: Partial<CompilerFile> = {}): Promise<SoljsonProcess> {
  const folder = await createTemporaryFolder();
  closers.push(folder.remove);
  const file = path.join(folder.path, 'soljson.js');
  const bytes = Buffer.from(text, 'latin1');
  await writeFile(file, bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const started = await SoljsonProcess.start(
    {
      compiler: 'solc',
      longVersion: NEWEST,
      kind: 'soljson',
      path: file,
      sha256,
      listed: true,
      pinned: true,
      source: 'directory',
      ...more,
    },
    { limits: DEFAULT_LIMITS, isolation: await probeIsolation() },
  );
  closers.push(() => started.end());
  return started;
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'started';
  } catch (error) {
    return error instanceof FullmatchError ? error.code : String(error);
  }
}

/** A fake soljson: just enough to be queried; it returns what it finds in its environment as its version. */
function pretend(expression: string): string {
  return `var Module = Module || {};
    var heap = new Uint8Array(65536);
    Module.HEAPU8 = heap;
    Module._malloc = function () { return 1024; };
    Module._solidity_version = function () {
      var text = String(${expression}) + '+commit.00000000';
      for (var i = 0; i < text.length; i += 1) heap[i] = text.charCodeAt(i);
      heap[text.length] = 0;
      return 0;
    };`;
}

describe('soljson text', () => {
  test.each(SOLC_VERSIONS)('of %s yields its WebAssembly, if any', (version) => {
    const text = readSoljson(version);
    const { glue, wasm } = takeWasm(text);
    const [, minor] = version.split('.').map(Number);
    if ((minor ?? 0) < 6) {
      expect(wasm).toBeUndefined();
      expect(glue).toBe(text);
    } else {
      expect(wasm?.subarray(0, 4).toString('latin1')).toBe('\0asm');
      const webAssembly = Reflect.get(globalThis, 'WebAssembly') as {
        validate(bytes: Uint8Array): boolean;
      };
      expect(webAssembly.validate(wasm ?? Buffer.alloc(0))).toBe(true);
      expect(glue.length).toBeLessThan(200_000);
    }
  });

  test('of an unknown format stays whole and finds its own code', async () => {
    const text = readSoljson(NEWEST).replace('})("', '}) ("');
    expect(takeWasm(text)).toEqual({ glue: text });
    const compiler = await start(text);
    for (let turn = 0; turn < 3; turn += 1) {
      expect((await compiler.compile(INPUT)).toString('utf8')).toContain('"object":"60');
    }
  });
});

describe('a soljson process', () => {
  test('runs only the bytes with the expected checksum', async () => {
    const text = `${readSoljson(NEWEST)}\n`;
    expect(await codeOf(start(text, { sha256: 'ab'.repeat(32) }))).toBe(
      'compiler_checksum_mismatch',
    );
  });

  test('rejects a compiler whose version differs from its name', async () => {
    const longVersion = '0.8.36+commit.8a079791';
    expect(await codeOf(start(readSoljson(NEWEST), { longVersion }))).toBe(
      'compiler_checksum_mismatch',
    );
  });

  test.each([
    ['nothing', ''],
    ['invalid JavaScript', '}{'],
    ['unrelated JavaScript', 'Module.answer = 42;'],
    ['a call that ends the process', 'process.exit(0);'],
    ['a throw statement', 'throw 1;'],
  ])('reports a file that contains %s', async (_what, text) => {
    expect(await codeOf(start(text))).toBe('compiler_crashed');
  });

  test('exposes nothing of Node except its version and platform', async () => {
    const seen = async (expression: string): Promise<string> => {
      const error = await start(pretend(expression)).catch((thrown: unknown) => thrown);
      return String((error as FullmatchError).details['version']);
    };
    expect(await seen('Object.keys(process).sort()')).toBe(
      'argv,exit,on,platform,stderr,stdout,versions+commit.00000000',
    );
    expect(await seen("Object.keys(require('fs')).length")).toBe('0+commit.00000000');
    expect(await seen('[typeof fetch, typeof XMLHttpRequest]')).toBe(
      'undefined,undefined+commit.00000000',
    );
  });

  test('may not open any file besides its input', async () => {
    const attempt = `(function () {
      try {
        globalThis.process.getBuiltinModule('fs').readFileSync('/etc/hostname');
        return 'read';
      } catch (error) { return error.code; }
    })()`;
    const error = await start(pretend(attempt)).catch((thrown: unknown) => thrown);
    expect(String((error as FullmatchError).details['version'])).toBe(
      'ERR_ACCESS_DENIED+commit.00000000',
    );
  });
});
