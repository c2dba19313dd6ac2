// Children of a factory, verified over API v2 with the sources of the factory's verification.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { callOf, word } from './support/creation-deployments.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf, type TestInput } from './support/developer.ts';
import { pollJob, post, verifyOverV2, type WireJob } from './support/verification-client.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const VERSION = '0.8.30';
const LONG_VERSION = '0.8.30+commit.73712a01';
const EXACT = { runtimeMatch: 'exact_match', creationMatch: 'exact_match' };

const FACTORY = `
  contract Plain { uint public n; function set(uint to) public { n = to; } }
  contract Valued {
    uint256 public immutable limit; address public immutable maker; string public label;
    constructor(uint256 limit_, string memory label_) { limit = limit_; maker = msg.sender; label = label_; }
    function within(uint256 n) public view returns (bool) { return n < limit; }
  }
  contract Factory {
    event Made(address child);
    function make(uint256 limit) public { emit Made(address(new Valued(limit, "made"))); }
    function plain() public { emit Made(address(new Plain())); }
    function salted(uint256 salt) public { emit Made(address(new Plain{ salt: bytes32(salt) }())); }
  }`;
const PATH = 'F.sol';
const input = inputOf({ [PATH]: FACTORY });

describeWith([ANVIL], 'similarity verification', () => {
  let service: VerifyingService;
  let apiUrl: string;
  let factory: Hex;

  const deployed = async (of: TestInput, name: string, args = ''): Promise<Hex> => {
    const { creationCode } = await compileAsDeveloper(VERSION, of, PATH, name);
    return (await deploy(service.anvil, creationCode, args)).address;
  };
  const made = async (data: Hex): Promise<Hex> => {
    const { transactionHash } = await service.anvil.send({ to: factory, data });
    const { logs } = await service.anvil.request<{ logs: { data: string }[] }>(
      'eth_getTransactionReceipt',
      [transactionHash],
    );
    return `0x${logs[0]!.data.slice(-40)}`;
  };
  const ask = (address: string, body: unknown = {}, chainId = VERIFIED_CHAIN_ID) =>
    post(`${apiUrl}/v2/verify/similarity/${chainId}/${address}`, body);
  const verify = async (address: string, body: unknown = {}): Promise<WireJob> => {
    const response = await ask(address, body);
    expect(response.status).toBe(202);
    const { verificationId } = (await response.json()) as { verificationId: string };
    return pollJob(apiUrl, verificationId);
  };
  /** Retries until the sources stored a moment ago are indexed. */
  const verifySoon = async (address: string): Promise<WireJob> => {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const job = await verify(address);
      if (job.error?.customCode !== 'no_similar_match_found' || Date.now() > deadline) return job;
    }
  };

  beforeAll(async () => {
    service = await startVerifyingService();
    ({ apiUrl } = service.service);
    factory = await deployed(input, 'Factory');
    const job = await verifyOverV2(apiUrl, factory, {
      ...{ stdJsonInput: input, compilerVersion: LONG_VERSION },
      contractIdentifier: `${PATH}:Factory`,
    });
    expect(job.contract).toMatchObject(EXACT);
  });
  afterAll(() => service.close());

  test('verifies several kinds of factory children in full, without any source sent', async () => {
    const first = await made(callOf('make(uint256)', word(1)));
    expect((await verifySoon(first)).contract).toMatchObject(EXACT);
    const others = [
      callOf('make(uint256)', word(2)),
      callOf('plain()'),
      callOf('salted(uint256)', word(3)),
    ];
    for (const data of others) {
      expect((await verify(await made(data))).contract).toMatchObject(EXACT);
    }
    const url = `${apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${first}?fields=compilation,sources`;
    expect(await (await fetch(url)).json()).toMatchObject({
      compilation: { fullyQualifiedName: `${PATH}:Valued` },
      sources: { [PATH]: { content: FACTORY } },
    });
  });

  test('accepts an empty body or one with a creation transaction', async () => {
    const address = await made(callOf('plain()'));
    const url = `${apiUrl}/v2/verify/similarity/${VERIFIED_CHAIN_ID}/${address}`;
    const response = await fetch(url, { method: 'POST' });
    expect(response.status).toBe(202);
    const { verificationId } = (await response.json()) as { verificationId: string };
    expect((await pollJob(apiUrl, verificationId)).contract).toMatchObject(EXACT);
    const { transactionHash } = await service.anvil.send({ to: factory, data: callOf('plain()') });
    const { logs } = await service.anvil.request<{ logs: { data: string }[] }>(
      'eth_getTransactionReceipt',
      [transactionHash],
    );
    const job = await verify(`0x${logs[0]!.data.slice(-40)}`, {
      creationTransactionHash: transactionHash,
    });
    expect(job.contract).toMatchObject(EXACT);
  });

  test('does not match a variant, a clone of a child, or unknown bytecode', async () => {
    const variant = inputOf({ [PATH]: FACTORY.replace('n < limit', 'n > limit') });
    const args = word(9) + word(64) + word(1) + Buffer.from('x').toString('hex').padEnd(64, '0');
    const child = await made(callOf('plain()'));
    const clone = `3d602d80600a3d3981f3363d3d373d3d3d363d73${child.slice(2)}5af43d82803e903d91602b57fd5bf3`;
    const addresses = [
      await deployed(variant, 'Valued', args),
      (await deploy(service.anvil, clone)).address,
      (await deploy(service.anvil, '6005600c60003960056000f36001600055')).address,
    ];
    for (const address of addresses) {
      const job = await verify(address);
      expect(job.error?.customCode).toBe('no_similar_match_found');
      expect(job.contract).toMatchObject({ match: null });
    }
  });

  test('rejects a verified contract, an unsupported chain and an invalid body', async () => {
    const codeOf = async (response: Response) => [
      response.status,
      ((await response.json()) as { customCode: string }).customCode,
    ];
    expect(await codeOf(await ask(factory))).toEqual([409, 'already_verified']);
    expect(await codeOf(await ask(factory, {}, 999_999))).toEqual([400, 'unsupported_chain']);
    expect(await codeOf(await ask(factory, { creationTransactionHash: '0x12' }))).toEqual([
      400,
      'invalid_parameter',
    ]);
    expect(await codeOf(await ask(factory, []))).toEqual([400, 'invalid_json']);
    const job = await verify(`0x${'0'.repeat(37)}abc`);
    expect(job.error?.customCode).toBe('contract_not_deployed');
  });
});
