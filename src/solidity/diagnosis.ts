import { describeChanges, formatChanges, type SettingChanges } from './setting-changes.ts';

/** A line of the sources. */
export interface SourcePlace {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  /** The function, modifier or constructor that contains the line. */
  readonly function?: string;
}

/** The likely cause of a mismatch, as far as trials find one. */
export interface Diagnosis {
  /** The compiler release named in the bytecode on chain, if another one was used. */
  readonly compiler?: { readonly onChain: string; readonly used: string };
  /** Another contract of the same sources that matches, as `path:Name`; with `changes` only with these. */
  readonly contract?: string;
  /** The changed settings with which the sources match, as text: `optimizer.runs: 1000`. */
  readonly settings?: string;
  /** The same as an object. Jobs of earlier versions have only the text. */
  readonly changes?: SettingChanges;
  /** Changed settings whose bytecode is the most similar; `place` and `sizes` are of the compilation with them. */
  readonly closest?: SettingChanges;
  /** The source line of the first instruction that differs. */
  readonly place?: SourcePlace;
  /** Sizes of the runtime bytecodes in bytes. */
  readonly sizes?: { readonly compiled: number; readonly onChain: number };
}

/** Returns the diagnosis of sources that match with other settings. */
export function diagnosisOfChanges(changes: SettingChanges): Diagnosis {
  return { settings: formatChanges(changes), changes };
}

/**
 * Returns a diagnosis as one sentence; undefined if there is none. The texts may come from submitted sources.
 */
export function describeDiagnosis(diagnosis: Diagnosis): string | undefined {
  const { compiler, contract, settings, changes, closest, place, sizes } = diagnosis;
  if (contract !== undefined) {
    const name = contract.slice(contract.lastIndexOf(':') + 1);
    const more = changes === undefined ? '' : ` with ${describeChanges(changes)}`;
    return `Matches as ${name} (${contract})${more}.`;
  }
  if (changes !== undefined) {
    return `Matches with ${describeChanges(changes)}: ${formatChanges(changes)}.`;
  }
  if (settings !== undefined) return `Matches with ${settings}.`;
  if (compiler !== undefined) {
    return `The contract was compiled with ${compiler.onChain}, your sources with ${compiler.used}.`;
  }
  const lengths = sizes && describeSizes(sizes, closest);
  if (place === undefined) return lengths && `Your ${lengths}.`;
  const inFunction = place.function === undefined ? '' : `${place.function}, `;
  const where = `Differs in ${inFunction}${place.path}:${place.line}`;
  return lengths === undefined ? `${where}.` : `${where}; your ${lengths}.`;
}

function describeSizes(
  { compiled, onChain }: NonNullable<Diagnosis['sizes']>,
  closest: SettingChanges | undefined,
): string {
  const [ours, theirs] = [compiled.toLocaleString('en'), onChain.toLocaleString('en')];
  const settings = closest === undefined ? '' : ` with ${describeChanges(closest)}`;
  return compiled === onChain
    ? `sources compile to ${ours} bytes${settings}, the same size as the contract`
    : `sources compile to ${ours} bytes${settings}, the contract has ${theirs}`;
}
