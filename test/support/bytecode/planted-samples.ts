import { type SolcVersion } from '../compile-in-child.ts';
import { compileSamples, type CompiledSample, type SolcInput } from './compiled-suite.ts';

const CHILD = `pragma solidity >=0.4.11;
contract Child { uint256 public born; function grow() public { born += 1; } }
`;
const SETTINGS = { optimizer: { enabled: true, runs: 200 } };

const plantedSource = (auxdata: string): string => `pragma solidity >=0.4.11;
import "./Child.sol";
contract Planted {
    Child public child;
    function make() public { child = new Child(); }
    function look() public pure returns (bytes memory) { return hex"${auxdata}"; }
}
`;

/**
 * A contract that creates a Child and holds a constant with the same bytes as the Child's auxdata, which its
 * author can know in advance. The contract returns the constant, so a different constant means a different
 * contract.
 */
export async function compilePlanted(version: SolcVersion): Promise<CompiledSample> {
  const child: SolcInput = {
    language: 'Solidity',
    sources: { 'contracts/Child.sol': { content: CHILD } },
    settings: SETTINGS,
  };
  const [alone] = await compileSamples(version, { child });
  const auxdata = Object.values(alone?.recompiled.runtime.auxdata ?? {})[0]?.value.slice(2) ?? '';
  const planted: SolcInput = {
    ...child,
    sources: {
      ...child.sources,
      'contracts/Planted.sol': { content: plantedSource(auxdata) },
    },
  };
  const samples = await compileSamples(version, { planted });
  const sample = samples.find(({ name }) => name === 'Planted');
  if (sample === undefined) throw new Error(`solc ${version} gave no contract Planted`);
  return sample;
}
