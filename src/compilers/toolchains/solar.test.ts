import { createHash } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { FullmatchError } from '../../errors.ts';
import { findVersion, isLongVersion, isSolarVersion } from '../compiler-version.ts';
import { fetchCompiler } from '../inspect-compilers.ts';
import { CompilerFinder } from '../sources/compiler-finder.ts';
import { readAnyBuildName, splitToolchain, toolchainOf } from './all-toolchains.ts';
import { SOLAR } from './solar.ts';
import { SOLC } from './solc.ts';
import { VYPER } from './vyper.ts';

const V030 = '0.8.38+commit.275d15ec.solar.0.3.0';
const V020 = '0.8.35+commit.4bf7a3b.solar.0.2.0';
const NAME = `solar-linux-amd64-v${V030}`;
const LINUX = 'linux x64';

let folder: string | undefined;
afterEach(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  folder = undefined;
});

async function faultOf(work: Promise<unknown>): Promise<FullmatchError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof FullmatchError) return error;
  throw new Error('no FullmatchError');
}

describe('Solar version', () => {
  test.each([V030, `v${V030}`, V030.toUpperCase(), '0.8.38+commit.275d15e.solar.0.3.0'])(
    '%s is never mistaken for a solc version, nor vice versa',
    (text) => {
      const [release = ''] = V030.split('.solar');
      expect(isSolarVersion(text)).toBe(true);
      expect(findVersion(text, [release, V020, V030])).toBe(V030);
      expect(findVersion(text, [release])).toBeUndefined();
      expect(findVersion(text, [V030.replace('solar.0.3.0', 'solar.0.3.1')])).toBeUndefined();
      expect(findVersion(release, [V030])).toBeUndefined();
      expect(findVersion('0.8.38', [V030])).toBeUndefined();
    },
  );

  test.each(['0.3.0-dev', '0.3.0-rc.1'])('may be a development build: %s', (solar) => {
    const version = `0.8.38+commit.275d15ec.solar.${solar}`;
    expect(isLongVersion(version) && isSolarVersion(version)).toBe(true);
    expect(findVersion(V030, [version])).toBeUndefined();
  });

  test.each(['.solar', '.solar.', '.solar.0.3', '.solar.x', '.Linux.solar.0.3.0', '.solar-0.3.0'])(
    'ending with %s is invalid, also as a solc version',
    (end) => {
      const known = ['0.8.38+commit.275d15ec'];
      expect(() => findVersion(`0.8.38+commit.275d15ec${end}`, known)).toThrow(
        'not a compiler version',
      );
    },
  );

  test('selects the compiler for Solidity', () => {
    expect(toolchainOf('solidity', V030)).toBe(SOLAR);
    expect(toolchainOf('solidity', '0.8.38')).toBe(SOLC);
    expect(toolchainOf('solidity')).toBe(SOLC);
    expect(toolchainOf('vyper', '0.4.3')).toBe(VYPER);
    for (const language of ['yul', 'vyper']) {
      expect(() => toolchainOf(language, V030)).toThrow('Solar does not compile');
    }
    expect(splitToolchain(V030)).toEqual({ toolchain: SOLAR, version: V030 });
    expect(splitToolchain(`solar:${V030}`)).toEqual({ toolchain: SOLAR, version: V030 });
  });
});

test('a build has its own file name for one platform', () => {
  expect(readAnyBuildName(NAME)).toMatchObject({ longVersion: V030, toolchain: SOLAR });
  expect(SOLAR.names.readFileName(NAME, LINUX)).toMatchObject({ kind: 'native' });
  expect(SOLAR.names.readFileName(NAME, 'linux arm64')).toBeUndefined();
  expect(SOLAR.names.readFileName(NAME, 'darwin arm64')).toBeUndefined();
  // A file named like a build of another compiler is not a build.
  for (const name of [
    `solc-linux-amd64-v${V030}`,
    `soljson-v${V030}.js`,
    'solar-linux-amd64-v0.8.38+commit.275d15ec',
    'solar',
  ]) {
    expect(readAnyBuildName(name)).toBeUndefined();
  }
});

describe('Unusable Solar version', () => {
  test('reports that its output has no references', async () => {
    const finder = new CompilerFinder({ packages: [] }, SOLAR);
    for (const version of [V020, `v${V020}`, '0.8.30+commit.abc12345.solar.0.1.8']) {
      const { code, message } = await faultOf(finder.find(version));
      expect(code).toBe('unsupported_compiler_version');
      expect(message).toContain('no immutableReferences and no linkReferences');
    }
  });

  test('reports that it is not installed, on the command line too', async () => {
    const { code, message } = await faultOf(fetchCompiler({ packages: [] }, V030));
    expect(code).toBe('unsupported_compiler_version');
    expect(message).toBe(`Solar "${V030}" is not installed here; the operator can install it.`);
  });
});

describe.runIf(SOLAR.names.readFileName(NAME) !== undefined)("Operator's Solar build", () => {
  const putBuild = async (longVersion: string, sha256?: string): Promise<CompilerFinder> => {
    folder ??= await mkdtemp(path.join(tmpdir(), 'fullmatch-test-'));
    const name = SOLAR.names.fileNameOf(longVersion, 'native');
    const text = '#!/bin/sh\n';
    await writeFile(path.join(folder, name), text);
    await chmod(path.join(folder, name), 0o755);
    const own = createHash('sha256').update(text).digest('hex');
    const list = { builds: [{ path: name, longVersion, sha256: sha256 ?? own }] };
    await writeFile(path.join(folder, 'list.json'), JSON.stringify(list));
    return new CompilerFinder({ directory: folder, packages: [] }, SOLAR);
  };

  test("is used if the operator's list contains its SHA-256", async () => {
    const finder = await putBuild(V030);
    expect(await finder.find(`v${V030}`)).toMatchObject({
      ...{ compiler: 'solar', longVersion: V030, kind: 'native', pinned: false, listed: true },
    });
    expect(await finder.listUsable()).toEqual([
      { compiler: 'solar', longVersion: V030, isInstalled: true, isPinned: false },
    ]);
    // The solc finder ignores it.
    const ofSolc = new CompilerFinder({ directory: folder ?? '', packages: [] });
    expect(await ofSolc.listUsable()).toEqual([]);
    expect((await faultOf(ofSolc.find(V030))).code).toBe('unsupported_compiler_version');
  });

  test('with a wrong or unlisted checksum is rejected', async () => {
    const other = await faultOf((await putBuild(V030, 'a'.repeat(64))).find(V030));
    expect(other.code).toBe('compiler_checksum_mismatch');
    await rm(path.join(folder ?? '', 'list.json'));
    const unlisted = new CompilerFinder({ directory: folder ?? '', packages: [] }, SOLAR);
    expect((await faultOf(unlisted.find(V030))).code).toBe('unsupported_compiler_version');
  });

  test('without references in its output is rejected even if listed', async () => {
    const finder = await putBuild(V020);
    expect((await faultOf(finder.find(V020))).message).toContain('no linkReferences');
    expect(await finder.listUsable()).toEqual([]);
  });
});
