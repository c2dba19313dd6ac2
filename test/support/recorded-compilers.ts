import { createHash } from 'node:crypto';
import { checkCompilerInput } from '../../src/compilers/check-input.ts';
import { findVersion, isSolarVersion } from '../../src/compilers/compiler-version.ts';
import {
  type Compilers,
  type CompileRequest,
  type RawCompileResult,
} from '../../src/compilers/compilers.ts';
import { keepCompilation, readCompilation } from './compile-in-child.ts';

/**
 * Compilers that compile each input once: the real outputs are cached for the next run, with those of {@link
 * compileInChild}. Whether a version exists and what an input may contain is checked each time. Failures are
 * never cached.
 */
export function recordedCompilers(real: Compilers): Compilers {
  const compileToBytes = async (request: CompileRequest): Promise<RawCompileResult> => {
    const { language, version, input, rootSource = '', signal } = request;
    checkCompilerInput(language, input);
    const usable = isSolarVersion(version)
      ? (await real.listUsable()).map(({ longVersion }) => longVersion)
      : await real.listVersions(language);
    const found = findVersion(version, usable);
    if (found === undefined) return real.compileToBytes(request);
    const key = createHash('sha256')
      .update(`service ${language} ${found} ${JSON.stringify(input)}${rootSource}`)
      .digest('hex');
    const kept = await readCompilation(key);
    signal?.throwIfAborted();
    if (kept !== undefined) {
      return { bytes: Buffer.from(kept), version: found, compileTimeMs: 1 };
    }
    const result = await real.compileToBytes(request);
    await keepCompilation(key, result.bytes.toString().trimEnd());
    return result;
  };
  return {
    compileToBytes,
    // A cached compilation needs no compiler.
    prepare: () => () => undefined,
    obtain: (wanted) => real.obtain(wanted),
    describeDownloads: () => real.describeDownloads(),
    listUsable: () => real.listUsable(),
    listVersions: (language) => real.listVersions(language),
    describe: () => real.describe(),
    close: () => real.close(),
  };
}
