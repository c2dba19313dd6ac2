// SPDX-License-Identifier: MIT
pragma solidity ^0.8.22;

import {OwnableUpgradeable} from "@openzeppelin/contracts-upgradeable/access/OwnableUpgradeable.sol";
import {UUPSUpgradeable} from "@openzeppelin/contracts-upgradeable/proxy/utils/UUPSUpgradeable.sol";

contract Box is OwnableUpgradeable {
    uint256 public kept;

    function initialize(uint256 start) external initializer {
        __Ownable_init(msg.sender);
        kept = start;
    }
}

contract OwnUpgradedBox is OwnableUpgradeable, UUPSUpgradeable {
    uint256 public kept;

    function initialize(uint256 start) external initializer {
        __Ownable_init(msg.sender);
        __UUPSUpgradeable_init();
        kept = start;
    }

    function _authorizeUpgrade(address) internal override onlyOwner {}
}
