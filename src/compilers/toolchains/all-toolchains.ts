import { FullmatchError } from '../../errors.ts';
import { printableText } from '../../lib/printable-text.ts';
import { type CompilerName } from '../compiler-file.ts';
import { SOLC } from './solc.ts';
import { type NamedBuild, type Toolchain } from './toolchain.ts';
import { VYPER } from './vyper.ts';

/** The compilers of the field that are run here. */
export const TOOLCHAINS: readonly Toolchain[] = [SOLC, VYPER];

const MAX_NAME_SHOWN = 120;

/**
 * The compiler of a language, `solidity`, `yul` or `vyper`.
 * @throws FullmatchError unsupported_language
 */
export function toolchainOf(language: string): Toolchain {
  const found = TOOLCHAINS.find(({ languages }) => languages.has(language));
  if (found !== undefined) return found;
  const known = TOOLCHAINS.flatMap(({ languages }) => [...languages.keys()]).join(', ');
  const shown = printableText(language, MAX_NAME_SHOWN);
  throw new FullmatchError(
    'unsupported_language',
    `No compiler for ${shown} is here; supported: ${known}.`,
    { details: { language: shown } },
  );
}

/** The compiler that a file is a build of. */
export function toolchainOfFile({ compiler }: { readonly compiler: CompilerName }): Toolchain {
  return compiler === 'vyper' ? VYPER : SOLC;
}

/** What a text names on a command line: `vyper:0.3.10` as explorers write it, or a version of Solidity alone. */
export function splitToolchain(text: string): {
  readonly toolchain: Toolchain;
  readonly version: string;
} {
  const found = TOOLCHAINS.find(({ compiler }) => text.startsWith(`${compiler}:`));
  if (found === undefined) return { toolchain: SOLC, version: text };
  return { toolchain: found, version: text.slice(found.compiler.length + 1) };
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
