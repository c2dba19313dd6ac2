// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import "./Owned.sol";

/// Keeps the entries of its guests.
contract Guestbook is Owned {
    string public title;
    uint256 public immutable limit;
    string[] private entries;

    event Signed(address indexed guest, uint256 place);

    constructor(string memory title_, uint256 limit_) {
        title = title_;
        limit = limit_;
    }

    function sign(string calldata entry) external returns (uint256 place) {
        place = entries.length;
        require(place < limit, "full");
        entries.push(entry);
        emit Signed(msg.sender, place);
    }

    function rename(string calldata title_) external onlyOwner {
        title = title_;
    }
}
