/** Two above this module: in src/lib, and in dist/chunks where the build puts it. */
const ROOT = new URL('../../', import.meta.url);

/**
 * A file of the package, by its path from the package's folder. Programs of threads and children are there as built, also
 * for sources that tests run: no thread can read those without a second or two of translating.
 */
export const packageFile = (path: string): URL => new URL(path, ROOT);
