import { expect } from 'vitest';
import { compilationOf } from '../../../src/solidity/detected-compilation.ts';
import { readInputFiles } from '../../../src/solidity/read-input-files.ts';
import { type ClientProject } from './client-project.ts';
import { CLIENTS_SOLC } from './solc-executable.ts';

/** Expects that the verify page reads the build infos of a Hardhat project, with its sources below `folder`. */
export async function expectReadableBuildInfos(
  project: ClientProject,
  folder: string,
): Promise<void> {
  const dropped = readInputFiles(await project.readFolder('artifacts/build-info'));
  if (dropped.kind === 'unusable') throw new Error(dropped.reason);
  const contract = `${folder}/Guestbook.sol:Guestbook`;
  expect(dropped.contracts).toContain(contract);
  expect(dropped.contracts).toContain(`${folder}/Owned.sol:Owned`);
  expect(compilationOf(dropped, contract)).toMatchObject({
    compilerVersion: CLIENTS_SOLC.long,
    input: { sources: { [`${folder}/Guestbook.sol`]: {} } },
  });
}
