import { type ProcessLimits } from './bounded-process.ts';

/** Limits of one compilation. */
export interface CompilerLimits {
  /** Milliseconds from the start of the compilation, with the compiler loaded, to the last byte of output. */
  readonly wallTimeMs: number;
  /** Memory of the compiler itself in bytes, without the process around it. */
  readonly memoryBytes: number;
  /** Bytes of standard JSON output. */
  readonly outputBytes: number;
}

const MIB = 2 ** 20;
const WASM_PAGE_BYTES = 65_536;

/** The heaviest contracts seen (via IR, optimized) take several hundred MiB and about a minute. */
export const DEFAULT_LIMITS: CompilerLimits = {
  wallTimeMs: 180_000,
  memoryBytes: 1536 * MIB,
  outputBytes: 64 * MIB,
};

/**
 * Memory for Node, the compiler's text and its machine code in addition to the compiler's own memory: up to
 * 300 MiB seen.
 */
const NODE_RESIDENT_BYTES = 512 * MIB;
/** Node allocates more than it touches: code space, thread stacks, the new space of the garbage collector. */
const NODE_DATA_BYTES = 1024 * MIB;
/** The JavaScript heap holds the compiler's text, and temporarily the input and output. */
const NODE_HEAP_MIB = 512;

/**
 * Returns the limits of a native compiler, whose process contains nothing else. Its address space may be 64
 * MiB larger.
 */
export function nativeLimits({ memoryBytes }: CompilerLimits): ProcessLimits {
  return {
    residentBytes: memoryBytes,
    dataBytes: memoryBytes,
    addressBytes: memoryBytes + 64 * MIB,
  };
}

/** Returns the limits of a soljson process, including the memory of Node.js. */
export function soljsonLimits({ memoryBytes }: CompilerLimits): ProcessLimits {
  return {
    residentBytes: memoryBytes + NODE_RESIDENT_BYTES,
    dataBytes: memoryBytes + NODE_DATA_BYTES,
  };
}

/** Returns the Node flags that limit a soljson inside its process. */
export function soljsonNodeFlags({ memoryBytes }: CompilerLimits): readonly string[] {
  return [
    `--wasm-max-mem-pages=${Math.floor(memoryBytes / WASM_PAGE_BYTES)}`,
    `--max-old-space-size=${NODE_HEAP_MIB}`,
  ];
}
