import { inputOf } from './developer.ts';

// The owner is in storage: creation bytecode with other arguments results in the same runtime bytecode.
const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract Owned {
    uint256 public owner;
    constructor(uint256 first) { owner = first; }
    function end() external { selfdestruct(payable(msg.sender)); }
}
`;
/** A contract that can self-destruct, on a chain before Cancun. */
export const OWNED_INPUT = inputOf({ 'Owned.sol': SOURCE }, { evmVersion: 'shanghai' });
/** The body of a submission of the contract. */
export const OWNED_BODY = {
  stdJsonInput: OWNED_INPUT,
  compilerVersion: '0.8.37',
  contractIdentifier: 'Owned.sol:Owned',
};
