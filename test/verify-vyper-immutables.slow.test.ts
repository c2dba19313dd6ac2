// Values of Vyper's immutables, which follow the bytecode, set by other creation bytecode than that of the
// sources.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deploy, findAnvil, NO_ANVIL } from './support/anvil.ts';
import { type TestInput } from './support/developer.ts';
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
const [, , V310, V4] = VYPER_VERSIONS;
const PATH = 'vault.vy';
const word = (value: number): string => value.toString(16).padStart(64, '0');
const forVersion = (version: string, source: string): string =>
  version === V4 ? source : source.replace('@deploy', '@external');

/** A list with a length beyond its type overwrites the owner when copied. */
const vault = (): string => `
OWNER: constant(address) = 0x00000000000000000000000000000000000A11cE
LIST: immutable(DynArray[uint256, 2])
MORE: immutable(uint256)

@deploy
def __init__():
    LIST = [1, 2]
    MORE = 3

@external
@view
def is_owner(who: address) -> bool:
    list: DynArray[uint256, 2] = []
    owner: address = OWNER
    list = LIST
    return who == owner

@external
@view
def more() -> uint256:
    return MORE
`;

/** One of each type format: 14 words behind the bytecode. */
const ofManyTypes = (version: string): string => `
${version === V4 ? 'from ethereum.ercs import IERC20' : 'from vyper.interfaces import ERC20 as IERC20'}

${version === V4 ? 'flag' : 'enum'} Kind:
    A
    B

struct Pair:
    first: bytes4
    second: int8

SIZE: constant(uint256) = 3
OPEN: public(immutable(bool))
MAKER: public(immutable(address))
TOKEN: immutable(IERC20)
NAME: public(immutable(String[32]))
KIND: immutable(Kind)
LIST: immutable(DynArray[bool, SIZE])
PAIR: immutable(Pair)
BOTH: immutable(bool[2])

@deploy
def __init__():
    OPEN = True
    MAKER = msg.sender
    TOKEN = IERC20(msg.sender)
    NAME = "vault"
    KIND = Kind.B
    LIST = [True, False]
    PAIR = ${version === V4 ? 'Pair(first=0x01020304, second=-1)' : 'Pair({first: 0x01020304, second: -1})'}
    BOTH = [True, False]

@external
@view
def kind() -> Kind:
    return KIND
`;
const WORDS = 14;
const ENDLESS = 'ff'.repeat(32);
/** Values invalid for the types of those words, by word. */
const FORGED = [
  [0, word(2)],
  [1, ENDLESS],
  [2, ENDLESS],
  [3, word(33)],
  [5, word(4)],
  [6, word(4)],
  [6, ENDLESS],
  [7, word(2)],
  [10, ENDLESS],
  [11, word(128)],
  [13, word(2)],
] as const;

/** Creation bytecode that returns the given bytecode. */
function returning(code: string): string {
  const length = (code.length / 2).toString(16).padStart(4, '0');
  return `61${length}80600a3d393df3${code}`;
}

describe.skipIf(absence)(
  `Vyper immutables set by another program${absence ? ` (${absence})` : ''}`,
  () => {
    let service: VerifyingService;

    beforeAll(async () => {
      service = await startVerifyingService(() => `compilers: { folder: ${VYPER_FOLDER} }\n`);
    });
    afterAll(() => service.close());

    /** The bytecode of an honest deployment, in hex without 0x. */
    const honest = async (version: string, input: TestInput): Promise<string> => {
      const creation = await compileVyper(version, input, PATH);
      const { address } = await deploy(service.anvil, creation, '');
      return (await service.anvil.request<string>('eth_getCode', [address, 'latest'])).slice(2);
    };
    const verify = async (version: string, code: string, input: TestInput): Promise<WireJob> => {
      const { address } = await deploy(service.anvil, returning(code), '');
      return service.verify(address, {
        ...{ stdJsonInput: input, compilerVersion: version },
        contractIdentifier: `${PATH}:vault`,
      });
    };

    test('reject a list longer than its type allows, which overwrites other values', async () => {
      const input = vyperInput({ [PATH]: forVersion(V310, vault()) });
      const code = await honest(V310, input);
      const values = [2, 1, 2, 3].map(word).join('');
      expect(code.endsWith(values)).toBe(true);
      const forged = code.slice(0, -values.length) + [3, 1, 2, 0xbad].map(word).join('');
      const job = await verify(V310, forged, input);
      expect(job.error?.customCode).toBe('immutable_out_of_range');
      expect((await verify(V310, code, input)).contract?.match).toBe('match');
    });

    test.each([V310, V4])(
      'of %s must be valid for their types unless their origin is known',
      async (version) => {
        const input = vyperInput({ [PATH]: forVersion(version, ofManyTypes(version)) });
        const code = await honest(version, input);
        expect((await verify(version, code, input)).contract?.match).toBe('match');
        const values: readonly string[] = code.slice(-64 * WORDS).match(/.{64}/g) ?? [];
        for (const [place, value] of FORGED) {
          const forged = code.slice(0, -64 * WORDS) + values.with(place, value).join('');
          const { error } = await verify(version, forged, input);
          expect([place, error?.customCode]).toEqual([place, 'immutable_out_of_range']);
        }
      },
      60_000,
    );

    test('of an unknown type are accepted only with a creation match', async () => {
      const source = `
import lib
initializes: lib

@deploy
def __init__():
    lib.__init__()

@external
def f() -> uint256:
    return lib.LIMIT
`;
      const lib = 'LIMIT: immutable(uint256)\n\n@deploy\ndef __init__():\n    LIMIT = 5\n';
      const input = vyperInput({ [PATH]: source, 'lib.vy': lib });
      const code = await honest(V4, input);
      expect((await verify(V4, code, input)).error?.customCode).toBe('no_match');
      const { address } = await deploy(service.anvil, await compileVyper(V4, input, PATH), '');
      const job = await service.verify(address, {
        ...{ stdJsonInput: input, compilerVersion: V4, contractIdentifier: `${PATH}:vault` },
      });
      expect(job.contract).toMatchObject({ runtimeMatch: 'match', creationMatch: 'exact_match' });
    });
  },
);
