// Node's types know little of WebAssembly; this is what is used of it here.

/**
 * @typedef {object} Memory
 * @property {ArrayBuffer} buffer another object after the memory grew
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

/** The engine's WebAssembly. */
export const webAssembly = /** @type {WebAssemblyNamespace} */ (namespace);
