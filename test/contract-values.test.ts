// Values only available on chain: arguments, immutables and libraries, as the API and the contract page show
// them.
import { AbiParameters } from 'ox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANVIL, describeWith } from './support/needs.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';
import { checksumAddress, type Hex } from '../src/lib/hex.ts';

const PATH = 'src/Pool.sol';
const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

library Fees {
    function half(uint256 amount) public pure returns (uint256) { return amount / 2; }
}

type Price is uint96;
enum Mode { Open, Closed }

contract Pool {
    struct Key { address owner; uint24[2] fees; }
    address public immutable owner;
    Price public immutable price;
    Mode public immutable mode;
    bool public immutable isPaused;
    int24 public immutable tick;
    bytes4 public immutable tag;
    string public name;

    constructor(Key memory key, string memory name_, int24 tick_) {
        owner = key.owner;
        price = Price.wrap(uint96(key.fees[1]));
        mode = Mode.Closed;
        isPaused = true;
        tick = tick_;
        tag = 0xa9059cbb;
        name = name_;
    }

    function half(uint256 amount) external pure returns (uint256) { return Fees.half(amount); }
}

contract Front {
    constructor(address implementation) {
        assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, implementation) }
    }

    fallback() external payable {
        assembly {
            let implementation := sload(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc)
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), implementation, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if done { return(0, returndatasize()) }
            revert(0, returndatasize())
        }
    }
}
`;
const OWNER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const NAME = 'Pöol <b>of</b> the tests';
const PARAMETERS = [
  {
    type: 'tuple',
    components: [
      { type: 'address', name: 'owner' },
      { type: 'uint24[2]', name: 'fees' },
    ],
  },
  { type: 'string' },
  { type: 'int24' },
];

describeWith([ANVIL], 'on-chain values of a contract', () => {
  let service: VerifyingService;
  let library: Hex;
  let address: Hex;
  let front: Hex;
  const encoded = AbiParameters.encode(
    PARAMETERS as never,
    [{ owner: OWNER, fees: [500, 3_000] }, NAME, -887_272] as never,
  ).slice(2);

  beforeAll(async () => {
    service = await startVerifyingService();
    const input = inputOf({ [PATH]: SOURCE });
    const [fees, pool, proxy] = await Promise.all(
      ['Fees', 'Pool', 'Front'].map((name) => compileAsDeveloper('0.8.30', input, PATH, name)),
    );
    ({ address: library } = await deploy(service.anvil, fees!.creationCode));
    const linked = pool!.creationCode.replace(/__\$[0-9a-f]{34}\$__/g, library.slice(2));
    const deployed = await deploy(service.anvil, linked, encoded);
    ({ address } = deployed);
    const job = await service.verify(address, {
      ...{ stdJsonInput: input, compilerVersion: '0.8.30', contractIdentifier: `${PATH}:Pool` },
      creationTransactionHash: deployed.transactionHash,
    });
    expect(job.contract.match).toBe('exact_match');
    const word = address.slice(2).padStart(64, '0');
    ({ address: front } = await deploy(service.anvil, proxy!.creationCode, word));
    const { contract } = await service.verify(front, {
      ...{ stdJsonInput: input, compilerVersion: '0.8.30', contractIdentifier: `${PATH}:Front` },
    });
    expect(contract.match).toBe('exact_match');
  });
  afterAll(() => service.close());

  const get = async (path: string, accept: string): Promise<string> =>
    (await fetch(`${service.service.apiUrl}${path}`, { headers: { accept } })).text();

  test("are decoded with the ABI and the compiler's declarations", async () => {
    const path = `/v2/contract/${VERIFIED_CHAIN_ID}/${address}?fields=values`;
    const { values } = JSON.parse(await get(path, 'application/json')) as {
      values: { immutables: { name: string; type: string; value: string; data: string }[] };
    };
    expect(values).toMatchObject({
      constructorArguments: {
        data: `0x${encoded}`,
        decoded: [
          {
            ...{ name: 'key', type: 'tuple' },
            members: [
              { name: 'owner', type: 'address', value: OWNER },
              { name: 'fees', type: 'uint24[2]', members: [{ value: '500' }, { value: '3000' }] },
            ],
          },
          { name: 'name_', type: 'string', value: NAME },
          { name: 'tick_', type: 'int24', value: '-887272' },
        ],
      },
      libraries: [{ name: `${PATH}:Fees`, address: library }],
    });
    const told = values.immutables.map(({ name, type, value }) => [name, type, value]);
    expect(new Set(told.map((each) => each.join(' ')))).toEqual(
      new Set([
        `owner address ${OWNER}`,
        'price Price 3000',
        'mode enum Mode 1',
        'isPaused bool true',
        'tick int24 -887272',
        'tag bytes4 0xa9059cbb',
      ]),
    );
    expect(values.immutables.every(({ data }) => /^0x[0-9a-f]{64}$/.test(data))).toBe(true);
  });

  test.each(['proof', 'abi'])(
    'appear by name on the tab %s, with links to contracts',
    async (tab) => {
      const page = await get(`/contract/${VERIFIED_CHAIN_ID}/${address}?tab=${tab}`, 'text/html');
      const [, section = ''] =
        /<section aria-labelledby="values">(.*?)<\/section>/s.exec(page) ?? [];
      for (const text of ['key.owner', 'key.fees[1]', '-887272', 'isPaused', 'enum Mode', 'tag']) {
        expect(section).toContain(text);
      }
      expect(section).toContain('Pöol &lt;b>of&lt;/b> the tests');
      expect(section).toMatch(new RegExp(`href="[^"]*contract/${VERIFIED_CHAIN_ID}/${OWNER}"`));
      const toLibrary = new RegExp(
        `href="[^"]*contract/${VERIFIED_CHAIN_ID}/(?:${library}|${checksumAddress(library)})"`,
      );
      expect(section).toMatch(toLibrary);
    },
  );

  test("appear with the proxy's implementation and the licence of the source", async () => {
    const path = `/contract/${VERIFIED_CHAIN_ID}/${front}`;
    const line = /<p class="proxy">.*?<\/p>/s;
    // No page waits for a chain: it shows values that were read earlier, for example by an API request.
    expect(await get(path, 'text/html')).not.toMatch(line);
    await get(`/v2${path}?fields=proxyResolution`, 'application/json');
    const page = await get(path, 'text/html');
    const [proxy = ''] = line.exec(page) ?? [];
    expect(proxy).toContain('EIP-1967 proxy');
    // The whole address is there to read and to copy; the middle is hidden.
    const shown = checksumAddress(address);
    expect(proxy).toContain(`contract/${VERIFIED_CHAIN_ID}/${shown}"`);
    expect(proxy).toContain(`>${shown.slice(0, 6)}<`);
    expect(proxy).toContain('<bdi>Pool<');
    expect(proxy).toMatch(/class="match full"[^>]*><svg.*full match/s);
    expect(page).toContain('licence MIT');
    expect(await get(`/contract/${VERIFIED_CHAIN_ID}/${address}`, 'text/html')).not.toMatch(line);
  });

  test('are shown as bytes if the ABI does not describe them', async () => {
    const creation = { values: { constructorArguments: '0x01' } };
    const { renderValues } = await import('../src/http/api/v2/render-values.ts');
    const inputs = [{ type: 'uint256' }];
    for (const abi of [
      [],
      null,
      'x',
      [{ type: 'constructor', inputs }],
      [{ type: 'constructor' }],
    ]) {
      expect(renderValues({ artifacts: { abi }, creationCode: creation })).toMatchObject({
        constructorArguments: { data: '0x01', decoded: null },
        ...{ immutables: [], libraries: [] },
      });
    }
  });
});
