import { type ProcessLimits } from './bounded-process.ts';

/** What one compilation may use. */
export interface CompilerLimits {
  /** Milliseconds from the start of the compilation, the compiler being loaded, to its last byte of output. */
  readonly wallTimeMs: number;
  /** Bytes of memory for the compiler itself, not counting the process around it. */
  readonly memoryBytes: number;
  /** Bytes of standard JSON output. */
  readonly outputBytes: number;
}

const MIB = 2 ** 20;
const WASM_PAGE_BYTES = 65_536;

/** The heaviest contracts seen (via IR, optimised) take several hundred MiB and about a minute. */
export const DEFAULT_LIMITS: CompilerLimits = {
  wallTimeMs: 180_000,
  memoryBytes: 1536 * MIB,
  outputBytes: 64 * MIB,
};

/** What Node, the compiler's text and its machine code take beside the compiler's own memory: up to 300 MiB seen. */
const NODE_RESIDENT_BYTES = 512 * MIB;
/** Node allocates more than it touches: code space, thread stacks, the collector's new space. */
const NODE_DATA_BYTES = 1024 * MIB;
/** The heap of JavaScript holds the compiler's text, and passes input and output through. */
const NODE_HEAP_MIB = 512;

/** The limits of a native compiler, whose process holds nothing else. Its address space may be 64 MiB larger. */
export function nativeLimits({ memoryBytes }: CompilerLimits): ProcessLimits {
  return {
    residentBytes: memoryBytes,
    dataBytes: memoryBytes,
    addressBytes: memoryBytes + 64 * MIB,
  };
}

/** The limits of a process that runs a soljson: the memory of Node.js comes on top. */
export function soljsonLimits({ memoryBytes }: CompilerLimits): ProcessLimits {
  return {
    residentBytes: memoryBytes + NODE_RESIDENT_BYTES,
    dataBytes: memoryBytes + NODE_DATA_BYTES,
  };
}

/** The flags of Node that bound a soljson inside its process. */
export function soljsonNodeFlags({ memoryBytes }: CompilerLimits): readonly string[] {
  return [
    `--wasm-max-mem-pages=${Math.floor(memoryBytes / WASM_PAGE_BYTES)}`,
    `--max-old-space-size=${NODE_HEAP_MIB}`,
  ];
}
