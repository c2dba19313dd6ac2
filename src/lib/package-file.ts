/** Two levels up from this module: from src/lib, and from dist/chunks in the build. */
const ROOT = new URL('../../', import.meta.url);

/**
 * Returns the URL of a file in the package, by its path from the package folder. Programs of threads and
 * children are always loaded as built, even when tests run the sources: compiling the sources would take a
 * thread a second or two.
 */
export const packageFile = (path: string): URL => new URL(path, ROOT);
