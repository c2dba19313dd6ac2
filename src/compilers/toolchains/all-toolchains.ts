import { FullmatchError } from '../../errors.ts';
import { printableText } from '../../lib/printable-text.ts';
import { type CompilerName } from '../compiler-file.ts';
import { isSolarVersion } from '../compiler-version.ts';
import { SOLAR } from './solar.ts';
import { SOLC } from './solc.ts';
import { type NamedBuild, type Toolchain } from './toolchain.ts';
import { VYPER } from './vyper.ts';

/** The compilers of the field that are run here; of those that take one language, the first is the usual one. */
export const TOOLCHAINS: readonly Toolchain[] = [SOLC, VYPER, SOLAR];

const MAX_NAME_SHOWN = 120;

/**
 * The compiler of a language, `solidity`, `yul` or `vyper`: the usual one, or the one that a version belongs to.
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

/** The compiler that a file is a build of. */
export function toolchainOfFile({ compiler }: { readonly compiler: CompilerName }): Toolchain {
  return TOOLCHAINS.find((each) => each.compiler === compiler) ?? SOLC;
}

/**
 * What a text names on a command line: `vyper:0.3.10` as explorers write it, or a version of Solidity alone, which may be one
 * of Solar.
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

/** The build that a file is by its name, of whichever compiler. */
export function readAnyBuildName(
  fileName: string,
): (NamedBuild & { readonly toolchain: Toolchain }) | undefined {
  for (const toolchain of TOOLCHAINS) {
    const build = toolchain.names.readBuildName(fileName);
    if (build !== undefined) return { ...build, toolchain };
  }
  return undefined;
}
