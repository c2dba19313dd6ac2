import { pragmaOf } from '../../../src/solidity/build-standard-json.ts';
import { type PlainInput } from '../../../src/solidity/read-input-files.ts';
import { vyperPragmaOf } from '../../../src/solidity/vyper-sources.ts';
import { newestSatisfying } from '../../../src/solidity/pragma-version.ts';
import { createApi } from '../api.ts';

/** A proposed compiler, and the reason. */
export interface Proposal {
  readonly version: string;
  readonly reason: string;
}

/**
 * The compiler that the bytecode on chain names, once the address is known; else the newest version that all
 * pragmas allow. Nothing is proposed if both are unknown.
 */
export async function proposeCompiler(
  base: string,
  place: { readonly chain: string; readonly address: string } | undefined,
  { language, sources }: PlainInput,
): Promise<Proposal | undefined> {
  const [wanted, readPragma] =
    language === 'Vyper' ? (['vyper', vyperPragmaOf] as const) : (['solc', pragmaOf] as const);
  const api = createApi((path) => fetch(`${base}${path}`));
  if (place !== undefined) {
    const { chain, address } = place;
    const said = await api.get<{ compiler?: string; compilerVersion?: string }>(
      `v1/verify/proposal/${chain}/${address}`,
    );
    const { compiler, compilerVersion: version } = said.state === 'ready' ? said.value : {};
    if (version !== undefined && compiler === wanted)
      return { version, reason: 'Read from the code on chain.' };
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
