// Runs as a child process: reads {package, inputs} from standard input, writes the outputs of that solc as one JSON array.
// soljson installs process-wide handlers and never gives its memory back, so it does not run in a test process. It is
// JavaScript, so that nothing has to be translated in front of it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** @typedef {{ readonly package: string, readonly inputs: readonly object[] }} Request */
/** @typedef {{ readonly compile: (input: string) => string }} Compiler */

const require = createRequire(import.meta.url);
/** @type {unknown} */
const request = JSON.parse(readFileSync(0, 'utf8'));
// The wrapper of the newest solc knows how to call every older soljson.
/** @type {unknown} */
const wrapper = require('solc/wrapper');
const { package: name, inputs } = /** @type {Request} */ (request);
const wrap = /** @type {(soljson: unknown) => Compiler} */ (wrapper);
const compiler = wrap(require(`${name}/soljson.js`));
process.stdout.write(
  `[${inputs.map((input) => compiler.compile(JSON.stringify(input))).join(',')}]`,
);
