/** Contracts of the compiling benchmarks: standard JSON inputs, and how their sources are collected. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { narrowOutputSelection } from '../src/compilers/output-selection.ts';
import { type CompilationTarget, type StandardJsonInput } from '../src/solidity/standard-json.ts';

const MODULES = path.resolve(import.meta.dirname, '../node_modules');
const IMPORT = /import\s+(?:[^"';]*?from\s+)?"([^"]+)"/g;

/** A contract as compiler input, with the measured target. */
export interface BenchmarkContract {
  readonly name: string;
  readonly target: CompilationTarget;
  readonly input: StandardJsonInput;
}

/** A source and its imports; paths that do not begin with a dot are npm packages. */
function gather(name: string, content: string): Record<string, { content: string }> {
  const sources: Record<string, { content: string }> = {};
  const add = (source: string, text: string): void => {
    if (source in sources) return;
    sources[source] = { content: text };
    for (const [, imported = ''] of text.matchAll(IMPORT)) {
      const resolved = imported.startsWith('.')
        ? path.posix.join(path.posix.dirname(source), imported)
        : imported;
      add(resolved, readFileSync(path.join(MODULES, resolved), 'utf8'));
    }
  };
  add(name, content);
  return sources;
}

/** A contract with one source and everything that it imports from npm packages. */
export function gatherContract(name: string, content: string): BenchmarkContract {
  const target = { path: `${name}.sol`, name };
  const input = {
    language: 'Solidity',
    sources: gather(target.path, content),
    settings: { optimizer: { enabled: true, runs: 200 } },
  };
  return { name, target, input: narrowOutputSelection(input, target) };
}

/** A contract that every version since 0.4.11 compiles. */
export const SMALL = gatherContract(
  'Small',
  'contract Small { uint public x; function f(uint y) public returns (uint) { x = y + 1; return x; } }',
);

/** OpenZeppelin 5: 18 sources. */
export const ERC721_ENUMERABLE = gatherContract(
  'Token',
  `import "@openzeppelin/contracts/token/ERC721/extensions/ERC721Enumerable.sol";
contract Token is ERC721Enumerable { constructor() ERC721("Token", "TKN") {} }`,
);

/** OpenZeppelin 5: 37 sources. */
export const GOVERNOR = gatherContract(
  'Council',
  `import "@openzeppelin/contracts/governance/extensions/GovernorCountingSimple.sol";
import "@openzeppelin/contracts/governance/extensions/GovernorSettings.sol";
import "@openzeppelin/contracts/governance/extensions/GovernorVotes.sol";
contract Council is GovernorSettings, GovernorCountingSimple, GovernorVotes {
  constructor(IVotes t) Governor("Council") GovernorSettings(7200, 50400, 0) GovernorVotes(t) {}
  function quorum(uint256) public pure override returns (uint256) { return 1; }
  function votingDelay() public view override(Governor, GovernorSettings) returns (uint256) { return super.votingDelay(); }
  function votingPeriod() public view override(Governor, GovernorSettings) returns (uint256) { return super.votingPeriod(); }
  function proposalThreshold() public view override(Governor, GovernorSettings) returns (uint256) { return super.proposalThreshold(); }
}`,
);

/** A contract with deployment-specific values: two words that each deployment sets. */
export const VALUED = gatherContract(
  'Valued',
  `pragma solidity ^0.8.20;
   import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
   contract Valued is ERC20 {
     uint256 public immutable cap; address public immutable minter;
     constructor(uint256 cap_, address minter_) ERC20("Valued", "VAL") { cap = cap_; minter = minter_; }
     function mint(uint256 n) external { require(msg.sender == minter && totalSupply() + n <= cap); _mint(minter, n); }
   }`,
);
