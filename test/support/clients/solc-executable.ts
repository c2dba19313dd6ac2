import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The compiler version of the client projects: the one that the service has without the internet. */
export const CLIENTS_SOLC = { short: '0.8.37', long: '0.8.37+commit.f401782d' } as const;

/** Path of the compiler for clients that run soljson. */
export const SOLJSON_PATH: string = createRequire(import.meta.url).resolve('solc/soljson.js');

/**
 * Writes a program with the interface of the native solc that compiles with soljson, to the place where forge
 * keeps installed compilers.
 */
export async function writeSolcExecutable(home: string): Promise<void> {
  const folder = path.join(home, '.svm', CLIENTS_SOLC.short);
  await mkdir(folder, { recursive: true });
  const wrapper = createRequire(import.meta.url).resolve('solc');
  const program = `#!${process.execPath}
const { readFileSync } = require('node:fs');
if (process.argv.includes('--version')) {
  console.log('solc, the solidity compiler commandline interface');
  console.log('Version: ${CLIENTS_SOLC.long}.Linux.g++');
} else if (process.argv.includes('--standard-json')) {
  console.log(require(${JSON.stringify(wrapper)}).compile(readFileSync(0, 'utf8')));
} else {
  process.exitCode = 1;
}
`;
  await writeFile(path.join(folder, `solc-${CLIENTS_SOLC.short}`), program, { mode: 0o755 });
}
