/**
 * Imports a module of the built program: a process that tests start and kill is ready in a third of the time that it
 * takes with the sources, which must be transpiled first.
 *
 * @template Module
 * @param {string} file the path of its source below src/
 * @returns {Promise<Module>}
 */
export async function importBuilt(file) {
  const built = new URL(`../../dist/${file.replace(/\.ts$/, '.js')}`, import.meta.url);
  /** @type {unknown} */
  const module = await import(built.href);
  return /** @type {Module} */ (module);
}
