/** Result texts that clients compare exactly. */
export const RESULT_TEXTS = {
  pending: 'Pending in queue',
  verified: 'Pass - Verified',
  notMatched: 'Fail - Unable to verify',
  unknownJob: 'Unknown UID',
  notVerified: 'Contract source code not verified',
  noCreation: 'No data found',
  proxyPending: 'Verification in progress',
  noImplementation:
    'A corresponding implementation contract was unfortunately not detected for the proxy address.',
  otherImplementation:
    'The provided expected results are different than the retrieved implementation address!',
  proxyUnread:
    'It could not be read from the chain now whether the contract is a proxy. Ask again in some seconds.',
  noDelegateCall: 'This contract does not look like it contains any delegatecall opcode sequence.',
  wrongModule: 'Error! Missing Or invalid Module name',
  wrongAction: 'Error! Missing Or invalid Action name',
} as const;

/** Dialect that a client expects, derived from its path. */
export type Dialect = 'etherscan' | 'blockscout';

/** Responses to a submission, which differ between the dialects. */
export const SUBMISSION_TEXTS = {
  etherscan: {
    alreadyVerified: 'Contract source code already verified',
    noCode: (address: string) => `Unable to locate ContractCode at ${address}`,
  },
  blockscout: {
    alreadyVerified: 'Smart-contract already verified.',
    noCode: () => 'The address is not a smart contract',
  },
} satisfies Record<
  Dialect,
  { readonly alreadyVerified: string; readonly noCode: (address: string) => string }
>;
