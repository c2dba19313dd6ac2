// Runs as a child process: reads a standard JSON input from standard input and writes solc's output.
// soljson installs process-wide handlers and never gives its memory back, so it does not run in a test process.
import { readFileSync } from 'node:fs';
import solc from 'solc';

const input = readFileSync(0, 'utf8');
const compile = (solc as { compile: (input: string) => string }).compile;
process.stdout.write(compile(input));
