import { pragmaOf } from '../../../src/solidity/build-standard-json.ts';
import { type PlainInput } from '../../../src/solidity/detected-compilation.ts';
import { vyperPragmaOf } from '../../../src/solidity/vyper-sources.ts';
import { newestSatisfying } from './pragma-version.ts';
import { createApi } from '../api.ts';
import { type FoundCode } from '../parts/read-code.ts';

/** A proposed compiler, and the reason. */
export interface Proposal {
  readonly version: string;
  readonly reason: string;
}

/**
 * The compiler that the bytecode on chain names, if that is known; else the newest version that all pragmas
 * allow. Nothing is proposed if both are unknown.
 */
export async function proposeCompiler(
  base: string,
  code: FoundCode | undefined,
  { language, sources }: PlainInput,
): Promise<Proposal | undefined> {
  const [wanted, readPragma] =
    language === 'Vyper' ? (['vyper', vyperPragmaOf] as const) : (['solc', pragmaOf] as const);
  const api = createApi((path) => fetch(`${base}${path}`));
  if (code?.kind === 'found' && code.version !== undefined && code.compiler === wanted) {
    return { version: code.version, reason: 'Read from the code on chain.' };
  }
  const ranges = Object.values(sources).flatMap((text) => readPragma(text) ?? []);
  if (ranges.length === 0) return undefined;
  const known = await api.get<{ compilers: { compiler: string; longVersion: string }[] }>(
    'v1/compilers',
  );
  if (known.state !== 'ready') return undefined;
  const own = known.value.compilers.filter(({ compiler }) => compiler === wanted);
  const versions = own.map(({ longVersion }) => longVersion);
  const version = newestSatisfying(versions, ranges);
  return version === undefined
    ? undefined
    : {
        version,
        reason: 'Newest version your pragma allows. Change it if you deployed with another.',
      };
}
