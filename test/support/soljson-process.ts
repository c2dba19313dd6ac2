// Runs as a child process: reads {package, inputs} from standard input, writes the outputs of that solc as one JSON array.
// soljson installs process-wide handlers and never gives its memory back, so it does not run in a test process.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

interface Request {
  readonly package: string;
  readonly inputs: readonly object[];
}

const require = createRequire(import.meta.url);
const { package: name, inputs } = JSON.parse(readFileSync(0, 'utf8')) as Request;
// The wrapper of the newest solc knows how to call every older soljson.
const wrap = require('solc/wrapper') as (soljson: unknown) => { compile(input: string): string };
const compiler = wrap(require(`${name}/soljson.js`));
const outputs = inputs.map(
  (input) => JSON.parse(compiler.compile(JSON.stringify(input))) as object,
);
process.stdout.write(JSON.stringify(outputs));
