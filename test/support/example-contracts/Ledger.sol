// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {Sums} from "./Sums.sol";

/// @title Adds up what it is given, with a library that is deployed by itself.
contract Ledger {
    uint256 public balance;

    function book(uint256[] calldata parts) external {
        balance += Sums.total(parts);
    }
}
