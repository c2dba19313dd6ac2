// Runs as a child process: reads an array of standard JSON inputs from standard input and writes the array of solc's
// outputs. soljson installs process-wide handlers and never gives its memory back, so it does not run in a test process.
import { readFileSync } from 'node:fs';
import solc from 'solc';

const { compile } = solc as { compile: (input: string) => string };
const inputs = JSON.parse(readFileSync(0, 'utf8')) as readonly object[];
process.stdout.write(`[${inputs.map((input) => compile(JSON.stringify(input))).join(',')}]`);
