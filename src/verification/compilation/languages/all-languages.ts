import { FullmatchError } from '../../../errors.ts';
import { printableText } from '../../../lib/printable-text.ts';
import { type Language } from './language.ts';
import { SOLIDITY_LANGUAGE, YUL_LANGUAGE } from './solidity.ts';
import { VYPER_LANGUAGE } from './vyper.ts';

const LANGUAGES: ReadonlyMap<string, Language> = new Map([
  ['solidity', SOLIDITY_LANGUAGE],
  ['yul', YUL_LANGUAGE],
  ['vyper', VYPER_LANGUAGE],
]);

const NAME_SHOWN_CHARACTERS = 120;

/** Returns whether this service compiles a language, such as that of an import. */
export function isCompiledLanguage(name: string): boolean {
  return LANGUAGES.has(name.toLowerCase());
}

/**
 * Returns the properties of a language, given as `Solidity`, `Yul` or `Vyper` in any case.
 * @throws FullmatchError unsupported_language
 */
export function languageOf(name: string): Language {
  const language = LANGUAGES.get(name.toLowerCase());
  if (language !== undefined) return language;
  const shown = printableText(name, NAME_SHOWN_CHARACTERS);
  throw new FullmatchError(
    'unsupported_language',
    `No compiler for ${shown} is here; supported: ${[...LANGUAGES.keys()].join(', ')}.`,
    { details: { language: shown } },
  );
}
