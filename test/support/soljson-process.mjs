// Runs as a child process: reads {package, inputs, root} from standard input, writes the outputs of that solc as one JSON
// array. With a root the compiler gets only that source and resolves the others through imports.
// soljson installs process-wide handlers and never releases its memory, so it does not run in a test process. This file
// is JavaScript, so that nothing must be transpiled first.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** @typedef {{ readonly sources: Readonly<Record<string, { readonly content: string }>> }} Input */
/** @typedef {{ readonly package: string, readonly inputs: readonly Input[], readonly root?: string }} Request */
/** @typedef {(path: string) => { readonly contents: string } | { readonly error: string }} Finder */
/** @typedef {{ readonly compile: (input: string, callbacks?: { readonly import: Finder }) => string }} Compiler */

const require = createRequire(import.meta.url);
/** @type {unknown} */
const request = JSON.parse(readFileSync(0, 'utf8'));
// The wrapper of the newest solc supports every older soljson.
/** @type {unknown} */
const wrapper = require('solc/wrapper');
const { package: name, inputs, root } = /** @type {Request} */ (request);
const wrap = /** @type {(soljson: unknown) => Compiler} */ (wrapper);
const compiler = wrap(require(`${name}/soljson.js`));
/** @type {(input: Input) => string} */
const compile = (input) => {
  const source = root === undefined ? undefined : input.sources[root];
  if (root === undefined || source === undefined) return compiler.compile(JSON.stringify(input));
  return compiler.compile(JSON.stringify({ ...input, sources: { [root]: source } }), {
    import: (path) => {
      const contents = input.sources[path]?.content;
      return contents === undefined ? { error: `no ${path}` } : { contents };
    },
  });
};
process.stdout.write(`[${inputs.map((input) => compile(input)).join(',')}]`);
