import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type CompilersOptions,
  createCompilers,
  type Compilers,
} from '../src/compilers/compilers.ts';
import { probeIsolation, reportIsolation } from '../src/compilers/processes/isolation.ts';
import { type StandardJsonInput } from '../src/solidity/standard-json.ts';
import { FullmatchError } from '../src/errors.ts';
import { silentLogger } from '../src/log.ts';
import { listCompilers, listProcesses, type ProcessState } from './support/child-processes.ts';
import { SOLC_PACKAGES } from './support/solc-packages.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { IS_SLOW_SUITE } from './support/suite.ts';
import { compileParsed } from './support/compile-parsed.ts';

const MIB = 2 ** 20;
/** Compiler generations: asm.js without and with its own memory, WebAssembly in plain and packed text. */
const BOMBED = IS_SLOW_SUITE ? ['0.4.11', '0.4.26', '0.5.17', '0.8.4'] : ['0.8.37'];

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function open(options: CompilersOptions): Promise<Compilers> {
  const compilers = await createCompilers(
    { sources: { packages: SOLC_PACKAGES }, ...options },
    silentLogger,
  );
  closers.push(() => compilers.close());
  return compilers;
}

function inputOf(content: string): StandardJsonInput {
  return {
    language: 'Solidity',
    sources: { 'a.sol': { content } },
    settings: { outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
  };
}

/** Each modifier runs its body twice: n of them produce 2^n copies of it in the bytecode. */
function bomb(modifiers: number): string {
  const names = Array.from({ length: modifiers }, (_, index) => `m${index}`);
  const definitions = names.map((name) => `modifier ${name}(){_;_;}`).join('');
  return `contract A{uint x;${definitions}function f()public ${names.join(' ')}{x++;}}`;
}

const BOMB = bomb(28);
const HARMLESS = 'contract A { function f() public {} }';

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'compiled';
  } catch (error) {
    return error instanceof FullmatchError ? error.code : String(error);
  }
}

const linux = process.platform === 'linux';

describe.each(BOMBED)('a bomb for Solidity %s', (version) => {
  test('exceeding memory ends at the memory limit, and the next input compiles', async () => {
    const compilers = await open({ limits: { memoryBytes: 128 * MIB, wallTimeMs: 120_000 } });
    const compile = (content: string): Promise<unknown> =>
      compileParsed(compilers, { language: 'solidity', version, input: inputOf(content) });
    expect(await codeOf(compile(BOMB))).toBe('compiler_out_of_memory');
    expect(await codeOf(compile(HARMLESS))).toBe('compiled');
    await compilers.close();
    if (linux) expect(await listCompilers()).toEqual([]);
  });

  test('exceeding time ends at the time limit and leaves no process', async () => {
    const compilers = await open({ limits: { memoryBytes: 2048 * MIB, wallTimeMs: 400 } });
    const compile = (content: string): Promise<unknown> =>
      compileParsed(compilers, { language: 'solidity', version, input: inputOf(content) });
    const started = performance.now();
    expect(await codeOf(compile(BOMB))).toBe('compiler_timeout');
    expect(performance.now() - started).toBeLessThan(60_000);
    await compilers.close();
    if (linux) expect(await listCompilers()).toEqual([]);
  });
});

describe('limits', () => {
  test.skipIf(IS_SLOW_SUITE)('apply to the output', async () => {
    const compilers = await open({ limits: { outputBytes: 200 } });
    const compile = (): Promise<unknown> =>
      compileParsed(compilers, {
        language: 'solidity',
        version: '0.8.37',
        input: inputOf(HARMLESS),
      });
    expect(await codeOf(compile())).toBe('compiler_output_too_large');
    expect(await codeOf(compile())).toBe('compiler_output_too_large');
    expect(compilers.describe()).toMatchObject({ running: 0, idle: 0 });
  });

  test('apply to sources that nest deeper than the stack', async () => {
    const compilers = await open({});
    const depth = 100_000;
    const content = `contract A { uint x = ${'('.repeat(depth)}1${')'.repeat(depth)}; }`;
    for (const version of BOMBED) {
      const compile = (of: string): Promise<unknown> =>
        compileParsed(compilers, { language: 'solidity', version, input: inputOf(of) });
      // Newer versions check the depth themselves and return an error.
      expect(['compiled', 'compiler_crashed']).toContain(await codeOf(compile(content)));
      expect(await codeOf(compile(HARMLESS))).toBe('compiled');
    }
  });

  test.runIf(IS_SLOW_SUITE)('do not affect other compilations', async () => {
    const compilers = await open({ limits: { memoryBytes: 256 * MIB, wallTimeMs: 60_000 } });
    const compile = (version: string, content: string): Promise<unknown> =>
      compileParsed(compilers, { language: 'solidity', version, input: inputOf(content) });
    const bombed = codeOf(compile('0.8.37', BOMB));
    for (let turn = 0; turn < 5; turn += 1) {
      expect(await codeOf(compile('0.8.37', HARMLESS))).toBe('compiled');
    }
    expect(await bombed).toBe('compiler_out_of_memory');
  });
});

describe.skipIf(IS_SLOW_SUITE)('cancellation', () => {
  test('ends a compilation with the reason of the signal', async () => {
    const compilers = await open({ workers: 1 });
    const controller = new AbortController();
    const request = { language: 'solidity', version: '0.8.37', signal: controller.signal };
    const running = compileParsed(compilers, { ...request, input: inputOf(BOMB) });
    await expect.poll(() => compilers.describe().running).toBe(1);
    const waiting = compileParsed(compilers, { ...request, input: inputOf(HARMLESS) });
    const outcome = Promise.all([codeOf(running), codeOf(waiting)]);
    await expect.poll(() => compilers.describe()).toMatchObject({ running: 1, waiting: 1 });
    controller.abort(new Error('cancelled by the client'));
    expect(await outcome).toEqual(Array(2).fill('Error: cancelled by the client'));
    expect(compilers.describe()).toMatchObject({ running: 0, waiting: 0, idle: 0 });
    const input = inputOf(HARMLESS);
    expect(
      await codeOf(compileParsed(compilers, { language: 'solidity', version: '0.8.37', input })),
    ).toBe('compiled');
  });

  test('on close ends running and waiting compilations and leaves no process', async () => {
    const compilers = await open({});
    const compile = (version: string, content: string): Promise<string> =>
      codeOf(compileParsed(compilers, { language: 'solidity', version, input: inputOf(content) }));
    await compile('0.8.30', HARMLESS);
    const outcome = Promise.all(['0.8.37', '0.8.4', '0.7.6'].map((each) => compile(each, BOMB)));
    await expect.poll(() => compilers.describe().running).toBe(2);
    await compilers.close();
    expect(await outcome).toEqual(Array(3).fill('shutting_down'));
    expect(await compile('0.8.37', HARMLESS)).toBe('shutting_down');
    if (linux) expect(await listCompilers()).toEqual([]);
  });
});

describe('the warm pool', () => {
  test.runIf(IS_SLOW_SUITE)(
    'keeps compilers within its memory limit, most recently used longest',
    async () => {
      const compilers = await open({ idleBytes: 300 * MIB });
      const compile = (version: string): Promise<unknown> =>
        compileParsed(compilers, { language: 'solidity', version, input: inputOf(HARMLESS) });
      for (const version of ['0.8.4', '0.7.6', '0.8.30', '0.6.12', '0.8.37'])
        await compile(version);
      const { idle, idleBytes } = compilers.describe();
      expect(idle).toBeGreaterThan(0);
      expect(idle).toBeLessThan(5);
      expect(idleBytes).toBeLessThan(300 * MIB);
      if (linux) {
        // Terminating an evicted compiler takes a moment.
        await expect.poll(listCompilers).toHaveLength(idle);
        const children = await listCompilers();
        // The last one is warm: the same process responds again.
        await compile('0.8.37');
        const after = (await listCompilers()).map(({ pid }) => pid);
        expect(after).toEqual(children.map(({ pid }) => pid));
      }
    },
  );

  test.skipIf(IS_SLOW_SUITE)('ends an idle compiler after a while', async () => {
    const compilers = await open({ idleTimeoutMs: 300 });
    const input = inputOf(HARMLESS);
    await compileParsed(compilers, { language: 'solidity', version: '0.8.37', input });
    expect(compilers.describe().idle).toBe(1);
    await expect.poll(() => compilers.describe().idle).toBe(0);
    if (linux) await expect.poll(listCompilers).toEqual([]);
  });

  test.runIf(linux && !IS_SLOW_SUITE)('replaces a killed compiler', async () => {
    const compilers = await open({});
    const compile = (): Promise<unknown> =>
      compileParsed(compilers, {
        language: 'solidity',
        version: '0.8.37',
        input: inputOf(HARMLESS),
      });
    await compile();
    const [child] = await listCompilers();
    process.kill(child?.pid ?? 0, 'SIGKILL');
    await expect.poll(listCompilers).toEqual([]);
    // The kernel has killed it before this process is notified.
    await expect.poll(() => compilers.describe().idle).toBe(0);
    expect(await codeOf(compile())).toBe('compiled');
  });
});

/** Bash, whose scripts stand in for native compilers: it connects to ports without another program. */
const BASH = '/bin/bash';
const canStandIn = linux && ['x64', 'arm64'].includes(process.arch) && existsSync(BASH);

describe.runIf(canStandIn && !IS_SLOW_SUITE)('a native compiler', () => {
  /** Creates a folder with one native compiler: this script. */
  async function openNative(script: string, options: CompilersOptions = {}): Promise<Compilers> {
    const folder = await createTemporaryFolder();
    closers.push(folder.remove);
    const machine = process.arch === 'arm64' ? 'arm64' : 'amd64';
    const name = `solc-linux-${machine}-v0.8.37+commit.f401782d`;
    const text = `#!${BASH}\n${script}\n`;
    await writeFile(path.join(folder.path, name), text);
    await chmod(path.join(folder.path, name), 0o755);
    const sha256 = createHash('sha256').update(text).digest('hex');
    const builds = [{ path: name, longVersion: '0.8.37+commit.f401782d', sha256 }];
    await writeFile(path.join(folder.path, 'list.json'), JSON.stringify({ builds }));
    return open({ sources: { directory: folder.path }, ...options });
  }
  const request = { language: 'solidity', version: '0.8.37', input: inputOf(HARMLESS) };
  const READ_INPUT = 'while read -r _; do :; done';

  async function listStandIns(): Promise<readonly ProcessState[]> {
    const all = await listProcesses();
    return all.filter(({ command }) =>
      /(?:\/compiler|solc-linux\S+) --standard-json/.test(command),
    );
  }

  /** A folder that only its owner may enter, like a data directory. */
  async function createClosedFolder(): Promise<{ path: string }> {
    const folder = await createTemporaryFolder();
    closers.push(folder.remove);
    await chmod(folder.path, 0o700);
    return folder;
  }

  test('gets the input in an empty folder, without our environment', async () => {
    const compilers = await openNative(
      `${READ_INPUT}; shopt -s nullglob dotglob; printf '{"errors":[],"files":"%s","home":"%s","secret":"%s"}' "$(echo *)" "$HOME" "$PGPASSWORD"`,
    );
    process.env['PGPASSWORD'] = 'hidden';
    const { output, version } = await compileParsed(compilers, request);
    delete process.env['PGPASSWORD'];
    expect(version).toBe('0.8.37+commit.f401782d');
    expect(output).toEqual({ errors: [], files: '', home: '', secret: '' });
  });

  test('runs as nobody, reads only its own files and writes none, where the system allows it', async (context) => {
    if ((await probeIsolation()).cage === undefined) {
      context.skip('this system does not let a compiler be shut up in a folder');
    }
    const secret = path.join((await createClosedFolder()).path, 'secret');
    await writeFile(secret, 'hidden');
    const compilers = await openNative(
      `${READ_INPUT}
      see() { local text; { text=$(<"$1"); } 2>/dev/null && printf '"%s",' "$1"; }
      put() { { echo x >"$1"; } 2>/dev/null && printf '"%s",' "$1"; }
      printf '{"read":['; see /etc/passwd; see /etc/hostname; see /proc/self/environ; see ${secret}; see ${process.execPath}
      printf '0],"written":['; put /x; put /tmp/x; put x; put ${secret}; put /compiler
      printf '0],"signalled":['; kill -0 1 2>/dev/null && printf 1,; kill -0 ${process.pid} 2>/dev/null && printf 2,
      printf '0],"isRoot":%s}' "$((UID == 0))"`,
    );
    expect((await compileParsed(compilers, request)).output).toMatchObject({
      read: [0],
      written: [0],
      ...(process.getuid?.() === 0 && { signalled: [0] }),
      isRoot: 0,
    });
    expect(await readFile(secret, 'utf8')).toBe('hidden');
  });

  test('has no network where the system can remove it', async (context) => {
    if (!reportIsolation(await probeIsolation()).withoutNetwork) {
      context.skip('this system does not let network namespaces be made');
    }
    const server = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(async () => server.close());
    const { port } = server.address() as AddressInfo;
    const compilers = await openNative(
      `${READ_INPUT}; n=0; (echo x >/dev/tcp/127.0.0.1/${port}) 2>/dev/null && n=1; printf '{"connected":%s}' "$n"`,
    );
    expect((await compileParsed(compilers, request)).output).toEqual({ connected: 0 });
  });

  test.runIf(process.arch === 'x64')(
    'unpacks into its own temporary folder, with a size limit',
    async () => {
      const folder = await createTemporaryFolder();
      closers.push(folder.remove);
      const name = 'vyper.0.3.10+commit.91361694.linux';
      const text = `#!${BASH}\n${READ_INPUT}
        # The oldest text that it is asked to fill the disk with, or else a file that it reads again.
        case "$REPLY" in *fill*) while :; do printf '%01000000d' 0 >>"$TMPDIR/$((n++ % 9))"; done;; esac
        echo 7 >"$TMPDIR/x" || exit 3
        printf '{"unpacked":%s}' "$(<"$TMPDIR/x")"\n`.replace(
        READ_INPUT,
        'IFS= read -r -d "" REPLY',
      );
      await writeFile(path.join(folder.path, name), text);
      await chmod(path.join(folder.path, name), 0o755);
      const sha256 = createHash('sha256').update(text).digest('hex');
      const builds = [{ path: name, longVersion: '0.3.10+commit.91361694', sha256 }];
      await writeFile(path.join(folder.path, 'list.json'), JSON.stringify({ builds }));
      const temporary = await createTemporaryFolder();
      closers.push(temporary.remove);
      vi.stubEnv('TMPDIR', temporary.path);
      try {
        const compilers = await open({ sources: { directory: folder.path } });
        const compile = (content: string) =>
          compileParsed(compilers, {
            ...{ language: 'vyper', version: '0.3.10' },
            input: { language: 'Vyper', sources: { 'a.vy': { content } }, settings: {} },
          });
        expect((await compile('x')).output).toEqual({ unpacked: 7 });
        expect(await codeOf(compile('fill'))).toBe('compiler_crashed');
      } finally {
        vi.unstubAllEnvs();
      }
      expect(await readdir(temporary.path)).toEqual([]);
    },
  );

  test('leaves no folder behind', async () => {
    const folder = await createTemporaryFolder();
    closers.push(folder.remove);
    const compilers = await openNative(`${READ_INPUT}; printf '{}'`);
    vi.stubEnv('TMPDIR', folder.path);
    await compileParsed(compilers, request).finally(() => vi.unstubAllEnvs());
    expect(await readdir(folder.path)).toEqual([]);
  });

  test('that forks endlessly is limited and killed with all its processes', async (context) => {
    if ((await probeIsolation()).cage?.ownUser !== true) {
      context.skip('processes are counted where a compiler has a user of its own');
    }
    const compilers = await openNative('spin() { while :; do :; done; }; while :; do spin & done', {
      limits: { wallTimeMs: 2_000 },
    });
    const compiling = codeOf(compileParsed(compilers, request));
    await expect.poll(async () => (await listStandIns()).length).toBeGreaterThan(1);
    expect((await listStandIns()).length).toBeLessThan(20);
    expect(['compiler_timeout', 'compiler_crashed', 'compiler_out_of_memory']).toContain(
      await compiling,
    );
    await expect.poll(listStandIns).toEqual([]);
  });

  test('is killed with the processes it started', async () => {
    const script = 'spin() { while :; do :; done; }; spin & spin';
    const compilers = await openNative(script, { limits: { wallTimeMs: 500 } });
    expect(await codeOf(compileParsed(compilers, request))).toBe('compiler_timeout');
    await expect.poll(listStandIns).toEqual([]);
    expect(await listCompilers()).toEqual([]);
  });

  test('is killed with the processes it left behind', async () => {
    const compilers = await openNative(`${READ_INPUT}; (while :; do :; done) & printf '{}'`);
    expect((await compileParsed(compilers, request)).output).toEqual({});
    await expect.poll(listStandIns).toEqual([]);
  });

  test('has memory and output limits', async () => {
    const limits = { memoryBytes: 64 * MIB, outputBytes: 100_000, wallTimeMs: 60_000 };
    const hungry = await openNative('x=x; while :; do x=$x$x; done', { limits });
    expect(['compiler_out_of_memory', 'compiler_crashed']).toContain(
      await codeOf(compileParsed(hungry, request)),
    );
    const chatty = await openNative('while :; do echo yyyyyyyyyyyyyyyyyyyy; done', { limits });
    expect(await codeOf(compileParsed(chatty, request))).toBe('compiler_output_too_large');
  });

  test('reports its failure', async () => {
    const failing = await openNative('echo broken >&2; exit 3');
    const error = await compileParsed(failing, request).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'compiler_crashed', details: { said: 'broken' } });
    const babbling = await openNative(`${READ_INPUT}; echo hello`);
    expect(await codeOf(compileParsed(babbling, request))).toBe('compiler_crashed');
  });
});

test.runIf(linux && !IS_SLOW_SUITE)(
  'a compiler ends when this program is killed',
  async (context) => {
    if ((await probeIsolation()).endsWithParent === undefined) {
      context.skip('this system has no setpriv to ask for it');
    }
    const program = path.join(import.meta.dirname, 'support/bombed-process.ts');
    const child = spawn(process.execPath, ['--import', 'tsx', program, BOMB], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const compilersOf = async (): Promise<readonly ProcessState[]> =>
      (await listProcesses()).filter(
        ({ parent, command }) => parent === child.pid && command.includes('soljson-child'),
      );
    await expect.poll(compilersOf).toHaveLength(1);
    const [compiler] = await compilersOf();
    child.kill('SIGKILL');
    await expect
      .poll(async () => (await listProcesses()).filter(({ pid }) => pid === compiler?.pid), {
        timeout: 90_000,
      })
      .toEqual([]);
  },
);
