// Node's types hardly cover WebAssembly; these are the parts used here.

/**
 * @typedef {object} Memory
 * @property {ArrayBuffer} buffer replaced when the memory grows
 * @property {(pages: number) => number} grow
 *
 * @typedef {object} CompiledModule
 *
 * @typedef {Readonly<Record<string, unknown>>} Values
 *
 * @typedef {object} Instance
 * @property {Values} exports
 *
 * @typedef {object} WebAssemblyNamespace
 * @property {new (bytes: Uint8Array) => CompiledModule} Module
 * @property {new (module: CompiledModule, imports: Readonly<Record<string, Values>>) => Instance} Instance
 * @property {new (descriptor: { initial: number }) => Memory} Memory
 */

/** @type {unknown} */
const namespace = Reflect.get(globalThis, 'WebAssembly');

/** The engine's WebAssembly namespace. */
export const webAssembly = /** @type {WebAssemblyNamespace} */ (namespace);
