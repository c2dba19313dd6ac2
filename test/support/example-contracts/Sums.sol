// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// @title Sums that are linked, not inlined: the function is external.
library Sums {
    function total(uint256[] calldata parts) external pure returns (uint256 sum) {
        for (uint256 index = 0; index < parts.length; index++) sum += parts[index];
    }
}
