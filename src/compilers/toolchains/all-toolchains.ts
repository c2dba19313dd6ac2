import { FullmatchError } from '../../errors.ts';
import { printableText } from '../../lib/printable-text.ts';
import { type CompilerName } from '../compiler-file.ts';
import { isSolarVersion } from '../compiler-version.ts';
import { SOLAR } from './solar.ts';
import { SOLC } from './solc.ts';
import { type NamedBuild, type Toolchain } from './toolchain.ts';
import { VYPER } from './vyper.ts';

/** The supported compilers. Of several compilers for one language, the first is the default. */
export const TOOLCHAINS: readonly Toolchain[] = [SOLC, VYPER, SOLAR];

const MAX_NAME_SHOWN = 120;

/**
 * Returns the compiler of a language, `solidity`, `yul` or `vyper`: the default one, or the one that a
 * version belongs to.
 * @throws FullmatchError unsupported_language
 */
export function toolchainOf(language: string, version?: string): Toolchain {
  const isSolar = version !== undefined && isSolarVersion(version);
  const candidates = isSolar ? [SOLAR] : TOOLCHAINS;
  const found = candidates.find(({ languages }) => languages.has(language));
  if (found !== undefined) return found;
  const known = [...new Set(candidates.flatMap(({ languages }) => [...languages.keys()]))];
  const shown = printableText(language, MAX_NAME_SHOWN);
  const wanted = isSolar ? `Solar does not compile ${shown}` : `No compiler for ${shown} is here`;
  throw new FullmatchError('unsupported_language', `${wanted}; supported: ${known.join(', ')}.`, {
    details: { language: shown },
  });
}

/** Returns the toolchain of a compiler file. */
export function toolchainOfFile({ compiler }: { readonly compiler: CompilerName }): Toolchain {
  return TOOLCHAINS.find((each) => each.compiler === compiler) ?? SOLC;
}

/**
 * Splits a version from the command line: `vyper:0.3.10` as in explorers, or a version of Solidity alone,
 * which may be one of Solar.
 */
export function splitToolchain(text: string): {
  readonly toolchain: Toolchain;
  readonly version: string;
} {
  const found = TOOLCHAINS.find(({ compiler }) => text.startsWith(`${compiler}:`));
  if (found !== undefined) {
    return { toolchain: found, version: text.slice(found.compiler.length + 1) };
  }
  return { toolchain: isSolarVersion(text) ? SOLAR : SOLC, version: text };
}

/** Identifies the build of any compiler by its file name. */
export function readAnyBuildName(
  fileName: string,
): (NamedBuild & { readonly toolchain: Toolchain }) | undefined {
  for (const toolchain of TOOLCHAINS) {
    const build = toolchain.names.readBuildName(fileName);
    if (build !== undefined) return { ...build, toolchain };
  }
  return undefined;
}
