// Runs the compiler in a soljson.js isolated from the process around it: the text gets stand-ins for the
// globals that it looks up (process, require, console), so it cannot install handlers, open files or reach
// the network.

import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { refusalOutput, toOldCall, toStandardOutput } from './old-interface.mjs';
import { takeWasm } from './soljson-text.mjs';
import { webAssembly } from './web-assembly.mjs';

/**
 * @typedef {import('./web-assembly.mjs').CompiledModule} CompiledModule
 * @typedef {import('./web-assembly.mjs').Memory} Memory
 * @typedef {import('./web-assembly.mjs').Values} Values
 * @typedef {import('./old-interface.mjs').StandardInput} StandardInput
 * @typedef {import('./old-interface.mjs').OldOutput} OldOutput
 *
 * The used members of an Emscripten module. Pointers are numbers.
 * @typedef {object} Soljson
 * @property {(size: number) => number} _malloc
 * @property {(size: number) => number} [_solidity_alloc]
 * @property {(callback: Function, signature: string) => number} [addFunction]
 * @property {Uint8Array} [HEAPU8]
 * @property {(input: number, callback: number, context: number) => number} [_solidity_compile]
 * @property {(input: number, callback: number) => number} [_compileStandard]
 * @property {(sources: number, isOptimised: number) => number} [_compileJSONMulti]
 * @property {(source: number, isOptimised: number) => number} [_compileJSON]
 * @property {() => number} [_solidity_version]
 * @property {() => number} [_version]
 *
 * @typedef {(...standIns: unknown[]) => Soljson} Evaluate
 */

/** The globals that the text may look up, in the order of their stand-ins. */
const STAND_INS = [
  ...['Module', 'WebAssembly', 'ArrayBuffer', 'process', 'require', 'module', 'exports'],
  ...['console', 'fetch', 'XMLHttpRequest', '__dirname', '__filename'],
];

/**
 * V8's optimizing compiler does not pay off here: without it a first compilation takes 60 % of the time and a
 * process 60 to 80 MB less memory; only after many compilations does it make those of large contracts a tenth
 * faster.
 */
const WASM_FLAG = '--liftoff-only';
/** Each asm.js instance starts in the interpreter; baseline code, which instances share, makes it twice as fast. */
const ASMJS_FLAG = '--always-sparkplug';

/** Modules that Emscripten creates for a callback have a few dozen bytes. */
const CALLBACK_MODULE_BYTES = 1_000;

const ignore = () => undefined;

/**
 * @param {Buffer} json
 * @returns {unknown}
 */
const parse = (json) => JSON.parse(json.toString());

/** Thrown for a failure of the compiler itself; `code` is an error code of compilers. */
export class CompilerFailure extends Error {
  /**
   * @param {string} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** The text of a soljson.js, prepared for repeated evaluation. */
export class SoljsonProgram {
  /** @type {Evaluate} */
  #evaluate;
  /** @type {CompiledModule | undefined} */
  #compiled;
  #memoryBytes;

  /**
   * @param {string} text
   * @param {number} memoryBytes memory limit of an instance
   */
  constructor(text, memoryBytes) {
    this.#memoryBytes = memoryBytes;
    const { glue, wasm } = takeWasm(text);
    setFlagsFromString(wasm === undefined ? ASMJS_FLAG : WASM_FLAG);
    if (wasm !== undefined) this.#compiled = new webAssembly.Module(wasm);
    const wrapped = `(function (${STAND_INS.join(', ')}) {${glue}\n;return Module;})`;
    const script = new Script(wrapped, { filename: 'soljson.js' });
    /** @type {unknown} */
    const evaluate = script.runInThisContext();
    this.#evaluate = /** @type {Evaluate} */ (evaluate);
  }

  /**
   * Creates a compiler without any state of an earlier input.
   * @returns {SoljsonInstance}
   */
  instantiate() {
    const watch = new MemoryWatch(this.#memoryBytes);
    const module = {
      print: ignore,
      printErr: ignore,
    };
    const process = {
      versions: { node: '20' },
      platform: 'linux',
      argv: ['soljson'],
      stdout: { write: ignore },
      stderr: { write: ignore },
      on: ignore,
      exit: (/** @type {unknown} */ status) => {
        throw new CompilerFailure('compiler_crashed', `it ended itself with ${String(status)}`);
      },
    };
    const soljson = this.#evaluate(
      module,
      this.#standInForWebAssembly(watch),
      watch.arrayBuffer,
      process,
      () => ({}),
      { exports: {} },
      {},
      { log: ignore, warn: ignore, error: ignore },
      undefined,
      undefined,
      '/',
      '/soljson.js',
    );
    if (typeof soljson._malloc !== 'function') {
      throw new CompilerFailure('compiler_crashed', 'it is not a soljson that is known here');
    }
    return new SoljsonInstance(soljson, watch);
  }

  /**
   * WebAssembly as the text sees it: compiling returns the module that was compiled once, and an instance's
   * memory is watched.
   * @param {MemoryWatch} watch
   * @returns {unknown}
   */
  #standInForWebAssembly(watch) {
    /** @param {Uint8Array} bytes */
    const compile = (bytes) =>
      bytes.length > 0 && bytes.length < CALLBACK_MODULE_BYTES
        ? new webAssembly.Module(bytes)
        : (this.#compiled ??= new webAssembly.Module(bytes));
    return Object.create(webAssembly, {
      Module: {
        /** @param {Uint8Array} bytes */
        value: function Module(bytes) {
          return compile(bytes);
        },
      },
      Instance: {
        /**
         * @param {CompiledModule} module
         * @param {Readonly<Record<string, Values>>} imports
         */
        value: function Instance(module, imports) {
          const instance = new webAssembly.Instance(module, imports);
          for (const values of [instance.exports, ...Object.values(imports)]) {
            for (const value of Object.values(values)) {
              if (value instanceof webAssembly.Memory) watch.follow(value);
            }
          }
          return instance;
        },
      },
    });
  }
}

/** Tracks an instance's memory, and whether the instance exceeded its limit. */
class MemoryWatch {
  /** @type {Memory | undefined} */
  memory;
  refused = false;
  /** ArrayBuffer as asm.js sees it, one of which is its memory: the limit of WebAssembly does not apply to it. */
  arrayBuffer;

  /** @param {number} memoryBytes */
  constructor(memoryBytes) {
    this.arrayBuffer = new Proxy(ArrayBuffer, {
      construct: (constructor, /** @type {unknown[]} */ [size]) => {
        if (typeof size === 'number' && size > memoryBytes) {
          this.refused = true;
          throw new RangeError('Array buffer allocation failed');
        }
        try {
          return new constructor(/** @type {number} */ (size));
        } catch (error) {
          this.refused = true;
          throw error;
        }
      },
    });
  }

  /** @param {Memory} memory */
  follow(memory) {
    this.memory = memory;
    const grow = memory.grow.bind(memory);
    memory.grow = (pages) => {
      try {
        return grow(pages);
      } catch (error) {
        this.refused = true;
        throw error;
      }
    };
  }
}

/** How compilers and Emscripten report that memory ran out. */
const OUT_OF_MEMORY =
  /std::bad_alloc|out of memory|OOM|cannot enlarge memory|allocation failed|memory access out of bounds/i;
const OUT_OF_STACK = /call stack/i;
/**
 * How a compiler that caught its own failure reports it among the errors in the sources. Source text cannot
 * look like this, since its quotes are escaped.
 */
const OWN_FAILURE = /"type":\s?"(?:\w*Exception|InternalCompilerError)"/;
/** How compilers before 0.4.1 report their version: `0.3.6-3fc68da5/Release-Emscripten/clang`. */
const OLD_REPORT = /^(\d+\.\d+\.\d+)-[0-9a-f]+\*?\/.*$/s;

/** An evaluated compiler. */
export class SoljsonInstance {
  #soljson;
  #watch;

  /**
   * @param {Soljson} soljson
   * @param {MemoryWatch} watch
   */
  constructor(soljson, watch) {
    this.#soljson = soljson;
    this.#watch = watch;
  }

  /**
   * Returns the long version that the compiler reports, without its platform. Before 0.4.1 only the release:
   * those builds may report another commit than their own, or none.
   * @returns {string}
   */
  version() {
    const { _solidity_version: current, _version: old } = this.#soljson;
    const report = current ?? old;
    if (report === undefined) return '';
    return this.#read(report())
      .toString('latin1')
      .replace(/^(.*\+commit\.[0-9a-f]+).*$/, '$1')
      .replace(OLD_REPORT, '$1');
  }

  /**
   * Compiles once. Imports are resolved only among the sources of the input.
   *
   * @param {Buffer} input standard JSON input in UTF-8
   * @param {string} [root] the only source passed to the compiler, which requests the others by import
   * @returns {Buffer} standard JSON output
   * @throws CompilerFailure compiler_out_of_memory, compiler_crashed
   */
  compile(input, root) {
    let output;
    try {
      output =
        root === undefined
          ? this.#compileByOwnInterface(input)
          : this.#compileFromRoot(input, root);
    } catch (error) {
      throw this.#nameFailure(error);
    }
    if (this.#watch.refused && OWN_FAILURE.test(output.toString('latin1'))) {
      throw this.#nameFailure('it failed after memory was refused');
    }
    return output;
  }

  /** @returns {number} the size of its memory in bytes, which only grows */
  memoryBytes() {
    return this.#heap().length;
  }

  /** @returns {Uint8Array} the memory, which is replaced when it grows */
  #heap() {
    const { memory } = this.#watch;
    return memory === undefined
      ? (this.#soljson.HEAPU8 ?? new Uint8Array())
      : new Uint8Array(memory.buffer);
  }

  /**
   * Writes the input to the heap as a C string: Emscripten's own `ccall` uses the stack, where 1.25 MB is too much.
   *
   * @param {Buffer} input
   * @returns {number}
   */
  #write(input) {
    const pointer = this.#soljson._malloc(input.length + 1);
    if (pointer === 0) throw new CompilerFailure('compiler_out_of_memory', 'no room for its input');
    const heap = this.#heap();
    heap.set(input, pointer);
    heap[pointer + input.length] = 0;
    return pointer;
  }

  /**
   * @param {Buffer} input
   * @returns {Buffer}
   */
  #compileByOwnInterface(input) {
    const { _solidity_compile: current, _compileStandard: old } = this.#soljson;
    const { _compileJSONMulti: many, _compileJSON: one } = this.#soljson;
    if (current !== undefined) return this.#read(current(this.#write(input), 0, 0));
    if (old !== undefined) return this.#read(old(this.#write(input), 0));
    const compile = many ?? one;
    if (compile === undefined) {
      throw new CompilerFailure('compiler_crashed', 'it has no interface that is known here');
    }
    const asked = /** @type {StandardInput} */ (parse(input));
    const call = toOldCall(asked, many !== undefined);
    if ('fault' in call) return Buffer.from(JSON.stringify(refusalOutput(call.fault)));
    const text = this.#write(Buffer.from(call.text));
    const output = /** @type {OldOutput} */ (
      parse(this.#read(compile(text, Number(call.isOptimised))))
    );
    return Buffer.from(JSON.stringify(toStandardOutput(output, asked)));
  }

  /**
   * @param {Buffer} input
   * @param {string} root
   * @returns {Buffer}
   */
  #compileFromRoot(input, root) {
    const { _solidity_compile: compile, _solidity_alloc: allocate, addFunction } = this.#soljson;
    if (compile === undefined || allocate === undefined || addFunction === undefined) {
      throw new CompilerFailure('compiler_crashed', 'it asks for no imports');
    }
    const asked = /** @type {StandardInput} */ (parse(input));
    const { sources = {} } = asked;
    /** @type {(text: string, place: number) => void} */
    const answer = (text, place) => {
      const bytes = Buffer.from(text);
      const pointer = allocate(bytes.length + 1);
      const heap = this.#heap();
      heap.set(bytes, pointer);
      heap[pointer + bytes.length] = 0;
      new DataView(heap.buffer, heap.byteOffset).setUint32(place, pointer, true);
    };
    /** @type {(context: number, kind: number, name: number, contents: number, error: number) => void} */
    const onImport = (_context, kind, name, contents, error) => {
      const path = this.#read(name).toString();
      const isSource = this.#read(kind).toString() === 'source';
      const source = isSource && Object.hasOwn(sources, path) ? sources[path] : undefined;
      if (source === undefined) answer('File not found.', error);
      else answer(String(source.content), contents);
    };
    const alone = { ...asked, sources: { [root]: sources[root] } };
    const pointer = this.#write(Buffer.from(JSON.stringify(alone)));
    return this.#read(compile(pointer, addFunction(onImport, 'viiiii'), 0));
  }

  /**
   * A C string.
   * @param {number} pointer
   * @returns {Buffer}
   */
  #read(pointer) {
    const heap = this.#heap();
    const end = heap.indexOf(0, pointer);
    return Buffer.from(heap.subarray(pointer, end === -1 ? undefined : end));
  }

  /**
   * @param {unknown} error
   * @returns {CompilerFailure}
   */
  #nameFailure(error) {
    if (error instanceof CompilerFailure) return error;
    const [message = ''] = String(error instanceof Error ? error.message : error).split('\n');
    if (this.#watch.refused || OUT_OF_MEMORY.test(message)) {
      return new CompilerFailure(
        'compiler_out_of_memory',
        'it asked for more memory than it may have',
      );
    }
    if (OUT_OF_STACK.test(message)) {
      return new CompilerFailure('compiler_crashed', 'the sources nest deeper than its stack');
    }
    return new CompilerFailure('compiler_crashed', message);
  }
}
