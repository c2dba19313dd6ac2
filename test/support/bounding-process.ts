// Runs as a process to be killed: starts, under limits, a program that never exits and never reads its input,
// with or without the kernel's help, and prints its process id.
import { BoundedProcess } from '../../src/compilers/processes/bounded-process.ts';
import { probeIsolation } from '../../src/compilers/processes/isolation.ts';

const isolation = process.argv[2] === 'alone' ? {} : await probeIsolation();
const bounded = new BoundedProcess({
  name: 'A loop',
  file: process.execPath,
  parameters: ['-e', 'process.stdout.write("begun"); for (;;);'],
  directory: '/',
  limits: { residentBytes: 2 ** 30, dataBytes: 2 ** 31 },
  isolation,
});
bounded.output.once('data', () => process.stdout.write(`${String(bounded.pid)}\n`));
