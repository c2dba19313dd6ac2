import { findMethods } from '../../bytecode/find-methods.ts';
import { signaturesOf } from '../../solidity/abi-signatures.ts';

/** Source location of a function. */
export interface MethodLocation {
  readonly fileName: string;
  readonly fileOffset: number;
  readonly length: number;
}

/** A runtime bytecode with the compiler's data about it. */
export interface MappedCode {
  readonly code: Uint8Array;
  readonly abi: unknown;
  readonly methodIdentifiers?: unknown;
  readonly sourceMap: string;
  /** Returns the path of a source by its id in the compilation. */
  readonly nameFile: (id: number) => string | undefined;
}

/** Returns the source locations of the functions in a runtime bytecode, by selector. */
export function locateMethods({
  code,
  abi,
  methodIdentifiers,
  sourceMap,
  nameFile,
}: MappedCode): Readonly<Record<string, MethodLocation>> {
  const selectors = new Map(
    signaturesOf(abi, methodIdentifiers).function.map(({ signatureHash4 }) => [
      Number(signatureHash4),
      signatureHash4,
    ]),
  );
  const methods = findMethods(code, sourceMap, new Set(selectors.keys()));
  const named = [...methods].flatMap(([selector, { file, offset, length }]) => {
    const fileName = nameFile(file);
    const place = fileName === undefined ? undefined : { fileName, fileOffset: offset, length };
    return place === undefined ? [] : [[selectors.get(selector) ?? '', place] as const];
  });
  return Object.fromEntries(named);
}
