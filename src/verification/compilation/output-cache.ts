import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { abortable } from '../../lib/deadline.ts';
import { type ContractCompiler } from './compile-contract.ts';

type Request = Parameters<ContractCompiler['compileToBytes']>[0];
type Output = Awaited<ReturnType<ContractCompiler['compileToBytes']>>;

/** Total size of all cached outputs, in bytes. */
const KEPT_BYTES = 64 * 2 ** 20;
const LARGEST_KEPT_BYTES = 16 * 2 ** 20;
const KEPT_MS = 10 * 60_000;
/** Overhead of an entry in addition to its output. */
const ENTRY_BYTES = 1_024;

/**
 * Adds a cache and single-flight compilation: clones of a contract are mostly submitted one after another
 * with the same sources. A compilation is a function of its compiler and input, so a cached output is the one
 * that would be written again; it counts as no compile time. Requests for an input that is being compiled
 * wait for that compilation. Failures are not cached.
 */
export function withOutputCache(compilers: ContractCompiler): ContractCompiler {
  const kept = new LRUCache<string, Output>({
    maxSize: KEPT_BYTES,
    ttl: KEPT_MS,
    sizeCalculation: ({ bytes }) => bytes.length + ENTRY_BYTES,
  });
  const underWay = new Map<string, Promise<void>>();

  const compile = async (key: string, request: Request): Promise<Output> => {
    const compilation = compilers.compileToBytes(request);
    const ended = compilation.then(
      () => undefined,
      () => undefined,
    );
    underWay.set(key, ended);
    try {
      const output = await compilation;
      if (output.bytes.length + ENTRY_BYTES > LARGEST_KEPT_BYTES) return output;
      // Copied, since the reader of the bytes may transfer their memory to a thread.
      kept.set(key, { ...output, bytes: new Uint8Array(output.bytes), compileTimeMs: 0 });
      return output;
    } finally {
      if (underWay.get(key) === ended) underWay.delete(key);
    }
  };
  return {
    prepare: (wanted) => compilers.prepare(wanted),
    listVersions: (language) => compilers.listVersions(language),
    obtain: (wanted) => compilers.obtain(wanted),
    compileToBytes: async (request) => {
      const { signal } = request;
      const key = keyOf(request);
      const other = underWay.get(key);
      if (other !== undefined) await (signal ? abortable(other, signal) : other);
      signal?.throwIfAborted();
      const output = kept.get(key);
      if (output === undefined) return compile(key, request);
      return { ...output, bytes: new Uint8Array(output.bytes) };
    },
  };
}

function keyOf({ language, version, rootSource, input }: Request): string {
  return createHash('sha256')
    .update(JSON.stringify({ language, version, rootSource, input }))
    .digest('base64');
}
