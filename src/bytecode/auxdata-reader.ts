import { FullmatchError } from '../errors.ts';
import { type AuxdataReader } from './compiled-contract.ts';
import { solidityAuxdataReader } from './solidity-auxdata.ts';
import { vyperAuxdataReader } from './vyper-reader.ts';

/** The metadata of a Yul program, if any, is part of its text: every byte of its bytecode comes from the source. */
const yulAuxdataReader: AuxdataReader = {
  changeMetadata: (input) => input,
  read: () => ({ state: 'located', runtime: {}, creation: {} }),
};

const READERS: ReadonlyMap<string, AuxdataReader> = new Map([
  ['solidity', solidityAuxdataReader],
  ['yul', yulAuxdataReader],
  ['vyper', vyperAuxdataReader],
]);

/**
 * Returns the reader of a language, `Solidity`, `Yul` or `Vyper` in any case.
 * @throws FullmatchError `unsupported_language` for any other.
 */
export function auxdataReaderOf(language: string): AuxdataReader {
  const reader = READERS.get(language.toLowerCase());
  if (reader !== undefined) return reader;
  throw new FullmatchError(
    'unsupported_language',
    `contracts in ${JSON.stringify(language)} cannot be verified: send Solidity, Yul or Vyper`,
    { details: { language } },
  );
}
