// Runs as a process to be killed: compiles the source in its argument, which takes longer than any timeout.
import { createCompilers } from '../../src/compilers/compilers.ts';
import { silentLogger } from '../../src/log.ts';
import { compileParsed } from './compile-parsed.ts';

const compilers = await createCompilers({}, silentLogger);
const outputSelection = { '*': { '*': ['evm.bytecode.object'] } };
await compileParsed(compilers, {
  language: 'solidity',
  version: '0.8.37',
  input: {
    language: 'Solidity',
    sources: { 'a.sol': { content: process.argv[2] ?? '' } },
    settings: { outputSelection },
  },
});
