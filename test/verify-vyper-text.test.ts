// Scope of an exact Vyper match: only the texts and names that the compiler's integrity hash covers.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deploy, findAnvil, NO_ANVIL, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { type WireJob } from './support/verification-client.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';
import {
  compileVyper,
  NO_VYPER,
  VYPER_FOLDER,
  VYPER_VERSIONS,
  vyperInput,
} from './support/vyper-builds.ts';

const absence = findAnvil() === undefined ? NO_ANVIL : NO_VYPER;
const [, , , V4] = VYPER_VERSIONS;
const MAIN = 'contracts/Token.vy';

type Sources = Readonly<Record<string, string>>;

const interfaceOf = (name: string, before = ''): string =>
  `${before}\n@external\n@view\ndef ${name}() -> uint256: ...\n`;
const moduleOf = (number: number, before = ''): string =>
  `${before}\n@internal\n@pure\ndef f() -> uint256:\n    return ${number}\n`;

describe.skipIf(absence)(`exact matches of Vyper sources${absence ? ` (${absence})` : ''}`, () => {
  let service: VerifyingService;

  beforeAll(async () => {
    service = await startVerifyingService(() => `compilers: { folder: ${VYPER_FOLDER} }\n`);
  });
  afterAll(() => service.close());

  /** Deploys the result of some sources and verifies it with others. */
  const verify = async (
    deployed: Sources,
    sources: Sources = deployed,
    path = MAIN,
  ): Promise<WireJob & { readonly address: string }> => {
    const { address } = await deploy(
      service.anvil,
      await compileVyper(V4, vyperInput(deployed), MAIN),
    );
    const job = await service.verify(address, {
      ...{ stdJsonInput: vyperInput(sources), compilerVersion: V4 },
      contractIdentifier: `${path}:${path.slice(path.lastIndexOf('/') + 1, -3)}`,
    });
    return { ...job, address };
  };

  test('are not given if an interface imports another, which the hash does not cover', async () => {
    const main = `import Outer\nimplements: Outer\n\n@external\n@view\ndef outer() -> uint256:\n    return 1\n`;
    const sources = (comment: string): Sources => ({
      [MAIN]: main,
      'contracts/Outer.vyi': interfaceOf('outer', 'import Inner\n'),
      'contracts/Inner.vyi': interfaceOf('inner', `# ${comment}\n`),
    });
    const forged = await verify(sources('one'), sources('audited by everybody'));
    expect(forged.contract).toMatchObject({ runtimeMatch: 'match', creationMatch: 'match' });
    const direct = sources('one');
    const shown = { ...direct, [MAIN]: `import Inner\n${main}` };
    expect((await verify(shown)).contract?.creationMatch).toBe('exact_match');
  });

  test('are given if modules import modules from other folders', async () => {
    const sources = {
      [MAIN]: `
from ethereum.ercs import IERC20
from .lib import math as first
from . import helper
import far.away.numbers as second

@external
@view
def f() -> uint256:
    return first.f() + second.f() + helper.f()
`,
      'contracts/lib/math.vy': moduleOf(11),
      'far/away/numbers.vy': moduleOf(12),
      'contracts/helper.vy': `from .lib import math\n${moduleOf(13)}`,
    };
    const job = await verify(sources);
    expect(job.error).toBeUndefined();
    expect(job.contract?.creationMatch).toBe('exact_match');
  });

  test('are not given if unused files remain', async () => {
    const numbers = Array.from({ length: 16 }, (_, index) => index);
    const calls = numbers.map((number) => `m${number}.f()`).join(' + ');
    const imports = numbers.map((number) => `import m${number}\n`).join('');
    const main = `${imports}\n@external\n@view\ndef f() -> uint256:\n    return ${calls}\n`;
    const modules = numbers.map((number) => [`contracts/m${number}.vy`, moduleOf(number)] as const);
    const honest = { [MAIN]: main, ...Object.fromEntries(modules) };
    const forged = {
      [MAIN]: main,
      ...Object.fromEntries(
        modules.flatMap(([path, text], index) => [
          [path, text],
          [`contracts/m${index}a.vy`, '# audited by everybody\n'],
        ]),
      ),
    };
    const job = await verify(honest, forged);
    expect(job.contract).toMatchObject({ runtimeMatch: 'match', creationMatch: 'match' });
    expect((await verify(honest)).contract?.creationMatch).toBe('exact_match');
  }, 60_000);

  test('report that no hash covers names and settings', async () => {
    const main = `${moduleOf(7)}\n@external\n@view\ndef g() -> uint256:\n    return self.f()\n`;
    const path = 'AuditedByEverybody.vy';
    const { address, contract } = await verify({ [MAIN]: main }, { [path]: main }, path);
    expect(contract?.creationMatch).toBe('exact_match');
    const url = `${service.service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${address}`;
    const { unproven } = (await (await fetch(url)).json()) as { unproven: string[] };
    expect(unproven).toEqual(['names', 'settings']);
  });
});
