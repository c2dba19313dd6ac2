/** Sources of the demo: small contracts that do what their names say. They compile with Solidity 0.8.7 and later. */

const HEAD = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.7;
`;

/** A token with a fixed supply. */
export function tokenSource(name: string, symbol: string, supply: number): string {
  return `${HEAD}
/// @title ${symbol}, a token of the Fullmatch demonstration. It is worth nothing.
contract ${name} {
    string public constant name = "${symbol} (demonstration)";
    string public constant symbol = "${symbol}";
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = ${supply} ether;

    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error BalanceTooLow(address owner, uint256 balance, uint256 value);

    constructor() {
        balanceOf[msg.sender] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        move(from, to, value);
        return true;
    }

    function move(address from, address to, uint256 value) private {
        uint256 balance = balanceOf[from];
        if (balance < value) revert BalanceTooLow(from, balance, value);
        balanceOf[from] = balance - value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
`;
}

/** Ether that is locked until a time given to the constructor. */
export function vaultSource(name: string, days: number): string {
  return `${HEAD}
/// @title Keeps ether for ${days} days. Part of the Fullmatch demonstration.
contract ${name} {
    address public immutable owner;
    uint256 public immutable opensAt;

    error StillClosed(uint256 opensAt);
    error NotOwner();

    constructor(uint256 begin) {
        owner = msg.sender;
        opensAt = begin + ${days} days;
    }

    receive() external payable {}

    function open() external {
        if (msg.sender != owner) revert NotOwner();
        if (block.timestamp < opensAt) revert StillClosed(opensAt);
        (bool sent, ) = owner.call{value: address(this).balance}("");
        require(sent, "the owner refuses ether");
    }
}
`;
}

/** A vote among numbered proposals. */
export function ballotSource(name: string, proposals: number): string {
  return `${HEAD}
/// @title A vote among ${proposals} proposals. Part of the Fullmatch demonstration.
contract ${name} {
    uint256 public constant PROPOSALS = ${proposals};
    uint256[PROPOSALS] public votes;
    mapping(address => bool) public hasVoted;

    event Voted(address indexed voter, uint256 indexed proposal);

    function vote(uint256 proposal) external {
        require(!hasVoted[msg.sender], "one vote each");
        require(proposal < PROPOSALS, "no such proposal");
        hasVoted[msg.sender] = true;
        votes[proposal] += 1;
        emit Voted(msg.sender, proposal);
    }

    function winner() external view returns (uint256 best) {
        for (uint256 i = 1; i < PROPOSALS; i++) if (votes[i] > votes[best]) best = i;
    }
}
`;
}

/** A registry of names and their owners. */
export function registrySource(name: string, fee: number): string {
  return `${HEAD}
/// @title First come, first served: names for ${fee} gwei. Part of the Fullmatch demonstration.
contract ${name} {
    uint256 public constant FEE = ${fee} gwei;
    mapping(bytes32 => address) public holderOf;

    event Registered(bytes32 indexed key, address indexed holder, string name);

    function register(string calldata wanted) external payable {
        bytes32 key = keccak256(bytes(wanted));
        require(msg.value >= FEE, "the fee is missing");
        require(holderOf[key] == address(0), "taken");
        holderOf[key] = msg.sender;
        emit Registered(key, msg.sender, wanted);
    }
}
`;
}

/** A library that is linked, and one that is inlined. */
export const LIBRARY_SOURCE = `${HEAD}
/// @title Sums of lists, deployed once and linked by others.
library SumLib {
    function sum(uint256[] memory values) external pure returns (uint256 total) {
        for (uint256 i = 0; i < values.length; i++) total += values[i];
    }
}

/// @title Whole square roots, deployed once and linked by others.
library RootLib {
    function root(uint256 square) external pure returns (uint256 result) {
        if (square == 0) return 0;
        result = square;
        for (uint256 next = (square + 1) / 2; next < result; next = (square / next + next) / 2) result = next;
    }
}
`;

/** A contract that links the libraries. */
export const LINKING_SOURCE = `${HEAD}
import "./Libraries.sol";

/// @title Statistics of the numbers that it was told.
contract Statistics {
    uint256[] private numbers;

    function tell(uint256 number) external {
        numbers.push(number);
    }

    function total() external view returns (uint256) {
        return SumLib.sum(numbers);
    }
}

/// @title The length of a plane vector.
contract Vectors {
    function length(uint256 x, uint256 y) external pure returns (uint256) {
        return RootLib.root(x * x + y * y);
    }
}
`;

/** A factory, and the contracts it creates with CREATE and CREATE2. */
export const FACTORY_SOURCE = `${HEAD}
/// @title A box that its factory made.
contract Box {
    address public immutable factory;
    uint256 public immutable number;
    bytes32 public content;

    constructor(uint256 boxNumber) {
        factory = msg.sender;
        number = boxNumber;
    }

    function put(bytes32 what) external {
        content = what;
    }
}

/// @title Makes boxes.
contract BoxFactory {
    uint256 public made;

    event Made(address box);

    function make() external {
        emit Made(address(new Box(made++)));
    }

    function makeAt(bytes32 salt) external {
        emit Made(address(new Box{salt: salt}(made++)));
    }
}
`;

/** A proxy with the EIP-1967 slot, and two implementations. */
export const PROXY_SOURCE = `${HEAD}
/// @title The first implementation of a counter.
contract CounterV1 {
    uint256 public count;

    function step() external virtual {
        count += 1;
    }
}

/// @title The second one, which can go back.
contract CounterV2 is CounterV1 {
    function back() external {
        count -= 1;
    }
}

/// @title Forwards every call to the implementation in the slot of EIP-1967.
contract Proxy {
    bytes32 private constant SLOT = bytes32(uint256(keccak256("eip1967.proxy.implementation")) - 1);

    event Upgraded(address indexed implementation);

    constructor(address implementation) {
        bytes32 slot = SLOT;
        assembly {
            sstore(slot, implementation)
        }
        emit Upgraded(implementation);
    }

    fallback() external payable {
        bytes32 slot = SLOT;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(slot), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) {
                revert(0, returndatasize())
            }
            return(0, returndatasize())
        }
    }
}
`;
