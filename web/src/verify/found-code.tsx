import { type VNode } from 'preact';
import { createApi } from '../api.ts';
import { formatBytes } from '../format.ts';
import { type FoundCode, readCode } from '../parts/read-code.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { useRead } from './use-read.ts';
import { ADDRESS, CHAIN_ID, type VerifyFields } from './verify-form.ts';

/** Reads the code at the address of the form; undefined until chain and address are complete and it is read. */
export function useFoundCode(
  base: string,
  { chain, address }: Pick<VerifyFields, 'chain' | 'address'>,
): FoundCode | undefined {
  const api = createApi((path) => fetch(`${base}${path}`));
  const isPlace = CHAIN_ID.test(chain) && ADDRESS.test(address);
  return useRead(isPlace ? `${chain}/${address}` : undefined, () => readCode(api, chain, address));
}

/** Says whether there is code at the address, and which compiler it names. */
export function FoundCodeHint({ code }: { readonly code: FoundCode | undefined }): VNode {
  return (
    <p class={code?.kind === 'none' ? 'hint warning' : 'hint'} role="status">
      {code?.kind === 'found' && (
        <>
          Code found:{' '}
          {code.version !== undefined && (
            <>
              <SafeText text={`${code.compiler ?? ''} ${code.version.split('+')[0] ?? ''}`} />,{' '}
            </>
          )}
          {formatBytes(code.bytes)}.
        </>
      )}
      {code?.kind === 'none' &&
        'There is no code at this address. Check the chain and the address; a new contract appears once its block is final.'}
    </p>
  );
}
