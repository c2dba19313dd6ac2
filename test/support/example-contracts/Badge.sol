// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

contract Badge is ERC721 {
    uint256 public issued;

    constructor() ERC721("Badge", "BDG") {}

    function issue(address to) external {
        _safeMint(to, ++issued);
    }
}
