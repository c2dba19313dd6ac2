import { maskCode, type MaskedCode } from '../../bytecode/masked-code.ts';
import { toCodeTemplate } from '../../bytecode/recompiled-code.ts';
import { FullmatchError } from '../../errors.ts';
import { isBoundedName, isPathWithinLimits } from '../../lib/source-path.ts';
import { isStorableText } from '../../lib/storable-text.ts';
import { parseOutput, type RawOutput } from '../../compilers/parse-output.ts';
import { CODE_MAX_BYTES } from '../../lib/code-max-bytes.ts';
import { type StandardJsonOutput } from '../../solidity/standard-json.ts';

/** A contract of a compiler output and the keys of its runtime bytecode. */
export interface ContractKeys {
  readonly path: string;
  readonly name: string;
  readonly code: MaskedCode;
}

/** More contracts than any project has. */
const MAX_CONTRACTS = 2000;
/**
 * Limit on the constants of all contracts in total. The bytecode of such a project is several hundred times
 * the size of its sources.
 */
const MAX_CONSTANTS = 100_000;

/**
 * Reads the keys of the runtime bytecode of every contract in an output. Interfaces and abstract contracts
 * have none. Contracts that cannot be stored or exceed the size limit are skipped, and reading stops when the
 * limit on constants is reached.
 * @throws FullmatchError as {@link parseOutput} does
 */
export function readContractKeys({ bytes, version }: RawOutput): readonly ContractKeys[] {
  return contractKeysOf(parseOutput(bytes, version));
}

/** Does the same for an output that is already parsed. */
export function contractKeysOf({ contracts = {} }: StandardJsonOutput): readonly ContractKeys[] {
  const found: ContractKeys[] = [];
  let constants = 0;
  for (const [path, named] of Object.entries(contracts)) {
    if (!isPathWithinLimits(path) || !isStorableText(path)) continue;
    for (const [name, { evm }] of Object.entries(named)) {
      const running = evm?.deployedBytecode;
      const digits = running?.object.length ?? 0;
      if (running === undefined || digits === 0 || digits > 2 * CODE_MAX_BYTES) continue;
      if (!isBoundedName(name) || !isStorableText(name)) continue;
      const { object, linkReferences = {}, immutableReferences = {} } = running;
      const code = tryMasking({ code: object, linkReferences, immutableReferences, auxdata: {} });
      if (code === undefined) continue;
      constants += code.constants.length;
      if (constants > MAX_CONSTANTS) return found;
      found.push({ path, name, code });
      if (found.length === MAX_CONTRACTS) return found;
    }
  }
  return found;
}

/** Returns the keys of a bytecode, or undefined if its references are invalid; verifying it would report that. */
function tryMasking(recompiled: Parameters<typeof toCodeTemplate>[0]): MaskedCode | undefined {
  try {
    return maskCode(toCodeTemplate(recompiled).bytes);
  } catch (error) {
    if (error instanceof FullmatchError) return undefined;
    throw error;
  }
}
