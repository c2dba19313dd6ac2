import { FullmatchError } from '../errors.ts';
import { isMembers } from '../lib/members.ts';
import { printableText } from '../lib/printable-text.ts';
import { toolchainOf } from './toolchains/all-toolchains.ts';
import { type StandardJsonInput, type StandardJsonOutput } from '../solidity/standard-json.ts';

const MAX_NAME_SHOWN = 120;

function refuse(message: string, details: Record<string, unknown> = {}): FullmatchError {
  return new FullmatchError('invalid_compiler_input', message, { details });
}

function checkSources(sources: unknown): void {
  if (!isMembers(sources) || Object.keys(sources).length === 0) {
    throw refuse('The input has no sources.');
  }
  for (const [name, source] of Object.entries(sources)) {
    const shown = printableText(name, MAX_NAME_SHOWN);
    if (!isMembers(source))
      throw refuse(`The source "${shown}" is not an object.`, { source: name });
    if ('urls' in source) {
      throw refuse(
        `The source "${shown}" has urls, which are not fetched; put its text in "content".`,
        { source: name },
      );
    }
    if (typeof source['content'] !== 'string') {
      throw refuse(`The source "${shown}" has no text in "content".`, { source: name });
    }
  }
}

/** Rejects the model checker: it can take unlimited time and starts solvers, and no bytecode depends on it. */
function checkModelChecker(settings: Record<string, unknown>): void {
  const { modelChecker } = settings;
  if (modelChecker === undefined) return;
  const engine = isMembers(modelChecker) ? (modelChecker['engine'] ?? 'none') : undefined;
  if (engine === 'none') return;
  throw refuse('settings.modelChecker is not accepted; remove it, it does not affect the code.');
}

/**
 * Rejects inputs that this service does not compile: another language than the stated one, sources without
 * text or with `urls`, and the model checker. Everything else is left to the compiler.
 * @throws FullmatchError unsupported_language, invalid_compiler_input.
 */
export function checkCompilerInput(language: string, input: StandardJsonInput): void {
  const expected = toolchainOf(language).languages.get(language);
  if (!isMembers(input)) throw refuse('The input is not an object.');
  if (input.language !== expected) {
    throw refuse(
      `The input's language is not "${String(expected)}", which ${language} is compiled as.`,
    );
  }
  checkSources(input.sources);
  if (!isMembers(input.settings)) throw refuse('The input has no settings.');
  checkModelChecker(input.settings);
}

/** How every version since 0.4.11 reports that an import is not among the sources. */
const MISSING_IMPORT = /^Source "([a-z][a-z0-9+.-]*:\/\/[^"]*)" not found: File /i;

/**
 * Rejects an import by URL that is not among the sources. Only the compiler can tell an import from a comment
 * that looks like one, so this is checked after compiling; the compiler has no means to follow an import.
 * @throws FullmatchError invalid_compiler_input.
 */
export function checkImports(output: StandardJsonOutput): void {
  for (const { message } of output.errors ?? []) {
    const url = MISSING_IMPORT.exec(message)?.[1];
    if (url === undefined) continue;
    const shown = printableText(url, MAX_NAME_SHOWN);
    throw refuse(
      `A source imports "${shown}": imports by URL are not followed; give its text as a source of that name.`,
      { import: shown },
    );
  }
}
