import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { configOf, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from '../anvil.ts';
import { startProgram } from '../booted-service.ts';
import { SOLC_VERSIONS, solcPackageOf } from '../solc-packages.ts';
import { createTemporaryFolder } from '../temporary-folder.ts';

/** The built service in its own process and data directory, with every compiler of the tests, next to a real node. */
export interface ForgedService {
  readonly anvil: Anvil;
  readonly apiUrl: string;
  readonly repositoryUrl: string;
  readonly close: () => Promise<void>;
}

/** Starts the service, without a test runner. */
export async function startForgedService(): Promise<ForgedService> {
  const [anvil, folder] = await Promise.all([
    startAnvil({ chainId: VERIFIED_CHAIN_ID }),
    createTemporaryFolder('fullmatch-forgeries-'),
  ]);
  const compilers = path.join(folder.path, 'compilers');
  await mkdir(compilers);
  for (const version of SOLC_VERSIONS) {
    await symlink(
      path.join(solcPackageOf(version), 'soljson.js'),
      path.join(compilers, `soljson-v${version}.js`),
    );
  }
  const config = path.join(folder.path, 'fullmatch.yaml');
  const dataDir = path.join(folder.path, 'data');
  await writeFile(
    config,
    configOf(anvil, `dataDir: ${dataDir}\ncompilers: { folder: ${compilers} }\n`),
  );
  const program = await startProgram({ environment: { FULLMATCH_CONFIG: config } });
  return {
    anvil,
    apiUrl: program.apiUrl,
    repositoryUrl: program.repositoryUrl,
    close: async () => {
      program.child.kill('SIGTERM');
      await program.ended;
      await anvil.stop();
      await folder.remove();
    },
  };
}
