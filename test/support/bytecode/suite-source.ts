import { type SolcVersion } from '../compile-in-child.ts';

/** Numbers of a version for comparison: `0.4.26` is less than `0.5`. */
export function isAtLeast(version: SolcVersion, floor: string): boolean {
  const parts = (text: string): number[] => text.split('.').map(Number);
  const [have, need] = [parts(version), parts(floor)];
  for (const [index, number] of need.entries()) {
    if ((have[index] ?? 0) !== number) return (have[index] ?? 0) > number;
  }
  return true;
}

function constructorOf(version: SolcVersion, name: string): string {
  return isAtLeast(version, '0.4.22') ? 'constructor' : `function ${name}`;
}

/** Before 0.7 constructors are public; later they have no visibility. */
function visibility(version: SolcVersion): string {
  return isAtLeast(version, '0.7') ? '' : 'public';
}

/** The other contracts that each contract's bytecode needs. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  Linked: ['Sums', 'Products'],
  Maker: ['Child'],
  Nest: ['Child', 'Plain'],
  Salted: ['Child'],
};

/** The contracts of the suite in a version's dialect, by name, in source order. */
function suiteContracts(version: SolcVersion): Readonly<Record<string, string>> {
  const construct = (name: string, parameters: string, body: string): string =>
    `${constructorOf(version, name)}(${parameters}) ${visibility(version)} { ${body} }`;
  const external = isAtLeast(version, '0.5') ? 'external' : 'public';
  return {
    Plain: `contract Plain {
    uint256 public number;
    mapping(address => uint256) public counts;
    function set(uint256 value) public { number = value; counts[msg.sender] += 1; }
}`,
    Arguments: `contract Arguments {
    uint256 public number;
    string public text;
    address public owner;
    uint256[] public list;
    ${construct(
      'Arguments',
      'uint256 n, string memory t, address o, uint256[] memory l',
      'number = n; text = t; owner = o; list = l;',
    )}
}`,
    Sums: `library Sums {
    function add(uint256 a, uint256 b) public pure returns (uint256) { uint256 c = a + b; require(c >= a); return c; }
    function append(uint256[] storage list, uint256 value) public { list.push(value); }
}`,
    Products: `library Products {
    function times(uint256 a, uint256 b) public pure returns (uint256) { return a * b; }
}`,
    Linked: `contract Linked {
    uint256 public result;
    function both(uint256 a, uint256 b) public { result = Sums.add(Products.times(a, b), Products.times(b, 3)); }
    function more(uint256 a) public { result = Sums.add(result, a); }
    function most(uint256 a) public { result = Products.times(Sums.add(result, a), Sums.add(a, 7)); }
}`,
    Child: `contract Child {
    uint256 public born;
    ${construct('Child', 'uint256 n', 'born = n;')}
    function grow() public { born += 1; }
}`,
    Maker: `contract Maker {
    Child public last;
    function make(uint256 n) public { last = new Child(n); }
}`,
    Nest: `contract Nest {
    Child public child;
    Plain public plain;
    ${construct('Nest', '', 'child = new Child(7); plain = new Plain(); plain.set(9);')}
    function again() public { child = new Child(8); }
}`,
    ...(isAtLeast(version, '0.6.5') && {
      Immutables: `contract Immutables {
    uint256 public immutable limit;
    address public immutable owner;
    bytes4 public immutable tag;
    ${construct('Immutables', 'uint256 n, address o', 'limit = n; owner = o; tag = 0xfeedbeef;')}
    function within(uint256 n) external view returns (bool) { return n < limit && msg.sender == owner; }
    function both() external view returns (uint256, address, bytes4) { return (limit, owner, tag); }
    function twice() external view returns (uint256) { return limit * 2; }
}`,
      Salted: `contract Salted {
    Child public last;
    function make(bytes32 salt, uint256 n) ${external} { last = new Child{salt: salt}(n); }
}`,
    }),
  };
}

/**
 * Returns one source, in the version's dialect, with a contract of every kind relevant to matching: Plain,
 * Arguments, Sums and Products (libraries), Linked, Child, Maker (creates a Child when called), Nest (creates
 * two kinds of contracts in its constructor), and from 0.6.5 on Immutables and Salted (create2).
 * @param name only this contract and what its bytecode needs: compilers take seconds for the whole source
 */
export function suiteSource(version: SolcVersion, name?: string): string {
  const contracts = suiteContracts(version);
  const kept = Object.keys(contracts).filter(
    (each) => name === undefined || each === name || NEEDS[name]?.includes(each) === true,
  );
  const text = kept.map((each) => contracts[each]).join('\n\n');
  return `pragma solidity >=0.4.11;\n\n${text}\n`.replaceAll(
    ' pure ',
    isAtLeast(version, '0.4.16') ? ' pure ' : ' constant ',
  );
}

/** A contract that the compiler marks as experimental in its auxdata, in versions that do so. */
export function experimentalSource(version: SolcVersion): string {
  const feature = isAtLeast(version, '0.6') ? 'SMTChecker' : 'ABIEncoderV2';
  return `pragma solidity >=0.4.11;
pragma experimental ${feature};

contract Experimental {
    uint256 public number;
    function set(uint256 value) public { number = value; }
}
`;
}

/** A Yul program: all of its bytes come from the source. */
export const YUL_SOURCE = `object "Echo" {
    code {
        datacopy(0, dataoffset("runtime"), datasize("runtime"))
        return(0, datasize("runtime"))
    }
    object "runtime" {
        code {
            calldatacopy(0, 0, calldatasize())
            return(0, calldatasize())
        }
    }
}
`;
