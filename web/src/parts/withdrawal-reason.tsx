import { type VNode } from 'preact';
import { SafeText } from './safe-text.tsx';

/** The service's own reasons; an operator's are free text. */
const REASON_TEXTS: Readonly<Record<string, string>> = {
  claim_disproved:
    'the imported claim of a full match is false: the code on chain does not contain the hash of this metadata',
  code_replaced: 'the code at the address has changed',
  creation_replaced: 'a later transaction created the contract again with the same code',
  creation_rolled_back:
    'the block that created the contract was replaced, and the address has had no code since',
  call_protection_missing: 'the library contains zeros instead of its own address',
  verbatim_not_allowed:
    'the program contains its code as raw bytes, which does not show what it does',
  creation_disproved: 'the transaction recorded as the creation did not create this contract',
};

/** Why a match was withdrawn or corrected: a sentence for a known code, and the code itself. */
export function WithdrawalReason({ reason }: { readonly reason: string }): VNode {
  const text = Object.hasOwn(REASON_TEXTS, reason) ? REASON_TEXTS[reason] : undefined;
  if (text === undefined) return <SafeText text={reason} />;
  return (
    <>
      {text} (<code>{reason}</code>)
    </>
  );
}
