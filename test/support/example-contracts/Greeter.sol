// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// @title Keeps a greeting that its deployer may change.
contract Greeter {
    address public immutable owner;
    string public greeting;

    error NotOwner(address caller);

    constructor(string memory first) {
        owner = msg.sender;
        greeting = first;
    }

    /// @notice Replaces the greeting.
    function greet(string calldata next) external {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        greeting = next;
    }
}
