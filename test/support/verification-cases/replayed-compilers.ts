import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Compilers } from '../../../src/compilers/compilers.ts';
import { FullmatchError } from '../../../src/errors.ts';
import { type ContractCompiler } from '../../../src/verification/compilation/compile-contract.ts';

const REPLAYING = fileURLToPath(new URL('../../../scripts/replay-compiler.mjs', import.meta.url));
/** Errors of compilers for a missing version or language. */
const NOT_HERE: ReadonlySet<string> = new Set([
  'unsupported_compiler_version',
  'unsupported_language',
  'compiler_unavailable',
]);

/** Compilers that report whether outputs were replayed. */
export interface ReplayedCompilers extends ContractCompiler {
  /** Whether any output was replayed. */
  readonly hasReplayed: () => boolean;
}

/** The installed compilers; missing ones are replayed from a folder's recordings. */
export function replayedCompilers(real: Compilers, folder: string): ReplayedCompilers {
  let hasReplayed = false;
  return {
    hasReplayed: () => hasReplayed,
    prepare: () => () => undefined,
    listVersions: (language) => real.listVersions(language),
    obtain: () => Promise.resolve(undefined),
    async compileToBytes(request) {
      try {
        return await real.compileToBytes(request);
      } catch (error) {
        if (!(error instanceof FullmatchError) || !NOT_HERE.has(error.code)) throw error;
        hasReplayed = true;
        const { version, input } = request;
        return {
          bytes: await replay(folder, version, JSON.stringify(input)),
          version,
          compileTimeMs: 0,
        };
      }
    },
  };
}

function replay(folder: string, version: string, input: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [REPLAYING, folder, version], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (status) => {
      if (status === 0) resolve(Buffer.concat(chunks));
      else reject(new Error(`${REPLAYING} ended with ${String(status)}`));
    });
    child.stdin.end(input);
  });
}
