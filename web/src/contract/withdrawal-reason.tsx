import { type VNode } from 'preact';
import { SafeText } from '../parts/safe-text.tsx';

/** Reasons that the service gives by itself; an operator's own are free text. */
const REASON_TEXTS: Readonly<Record<string, string>> = {
  claim_disproved:
    'the code on chain shows that the imported claim of a full match is false: it holds no hash of this metadata',
  code_replaced: 'there is other code at the address now',
  creation_replaced: 'a later transaction created the contract again, with the same code',
  creation_rolled_back:
    'the chain replaced the block that created the contract, and there has been no code at the address since',
  call_protection_missing: 'the library contains zeros instead of its own address',
  verbatim_not_allowed: 'the program gives code as bytes, which says nothing about what it does',
  creation_disproved:
    'the chain says that the transaction which was taken for the creation did not leave this contract',
};

/** Why a match was withdrawn or corrected: the words for a known code, and the code itself. */
export function WithdrawalReason({ reason }: { readonly reason: string }): VNode {
  const text = Object.hasOwn(REASON_TEXTS, reason) ? REASON_TEXTS[reason] : undefined;
  if (text === undefined) return <SafeText text={reason} />;
  return (
    <>
      {text} (<code>{reason}</code>)
    </>
  );
}
