import { maskCode, type MaskedCode } from '../../bytecode/masked-code.ts';
import { toCodeTemplate } from '../../bytecode/recompiled-code.ts';
import { FullmatchError } from '../../errors.ts';
import { isBoundedName, isBoundedPath } from '../../lib/source-path.ts';
import { isStorableText } from '../../lib/storable-text.ts';
import { parseOutput, type RawOutput } from '../../compilers/parse-output.ts';
import { CODE_MAX_BYTES } from '../../chains/rpc/code-reading.ts';
import { type StandardJsonOutput } from '../../solidity/standard-json.ts';

/** A contract of a compiler's output, and the keys of its running code. */
export interface RunningCode {
  readonly path: string;
  readonly name: string;
  readonly code: MaskedCode;
}

/** No project has more contracts. */
const MOST_CONTRACTS = 2000;
/** Of all its contracts together. The codes of such a project are some hundred times what its sources are. */
const MOST_CONSTANTS = 100_000;

/**
 * The keys of the running code of every contract in an output. Interfaces and abstract contracts have none; what cannot be
 * stored or is larger than any contract is passed over, and so is what follows very many constants.
 * @throws FullmatchError as {@link parseOutput} does
 */
export function readRunningCodes({ bytes, version }: RawOutput): readonly RunningCode[] {
  return runningCodesOf(parseOutput(bytes, version));
}

/** The same of an output that is read already. */
export function runningCodesOf({ contracts = {} }: StandardJsonOutput): readonly RunningCode[] {
  const found: RunningCode[] = [];
  let constants = 0;
  for (const [path, named] of Object.entries(contracts)) {
    if (!isBoundedPath(path) || !isStorableText(path)) continue;
    for (const [name, { evm }] of Object.entries(named)) {
      const running = evm?.deployedBytecode;
      const digits = running?.object.length ?? 0;
      if (running === undefined || digits === 0 || digits > 2 * CODE_MAX_BYTES) continue;
      if (!isBoundedName(name) || !isStorableText(name)) continue;
      const { object, linkReferences = {}, immutableReferences = {} } = running;
      const code = tryMasking({ code: object, linkReferences, immutableReferences, auxdata: {} });
      if (code === undefined) continue;
      constants += code.constants.length;
      if (constants > MOST_CONSTANTS) return found;
      found.push({ path, name, code });
      if (found.length === MOST_CONTRACTS) return found;
    }
  }
  return found;
}

/** The keys of a code, or undefined where its references do not fit: verifying it would say so. */
function tryMasking(recompiled: Parameters<typeof toCodeTemplate>[0]): MaskedCode | undefined {
  try {
    return maskCode(toCodeTemplate(recompiled).bytes);
  } catch (error) {
    if (error instanceof FullmatchError) return undefined;
    throw error;
  }
}
