import { type CompilerFile } from '../compiler-file.ts';
import { type Toolchain } from '../toolchains/toolchain.ts';

/** Returns the path of a compiler's file in a bundle, which follows the layout of the official binaries. */
export function bundledName(
  { names }: Pick<Toolchain, 'names'>,
  { longVersion, kind }: Pick<CompilerFile, 'longVersion' | 'kind'>,
): string {
  return decodeURIComponent(names.pathOf(longVersion, kind));
}
