// Contracts verified with stored sources: children of a factory, clones and redeployments.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesToHex, type Hex } from '../src/lib/hex.ts';
import { silentLogger } from '../src/log.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { saveMatch, type VerifiedContract } from '../src/repository/repository.ts';
import { sql } from '../src/store/database.ts';
import { type DeployedCode } from '../src/chains/rpc/deployed-code.ts';
import { KnownCodeCache } from '../src/verification/known-codes/known-code-cache.ts';
import { verifyAndSaveKnownCode } from '../src/verification/recheck/verify-and-save.ts';
import { callOf, word } from './support/creation-deployments.ts';
import {
  type KnownCodesFixture,
  OTHER_CHAIN_ID,
  startKnownCodes,
  type Submission,
} from './support/known-codes-fixture.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';

const FULL = { runtimeMatch: 'full', creationMatch: 'full' };
const PARTIAL = { runtimeMatch: 'partial', creationMatch: 'partial' };
const CHILDREN = 30;

const FACTORY = `
  contract Child {
    uint256 public immutable limit; address public immutable maker; bytes4 public immutable kind; string public label;
    constructor(uint256 limit_, string memory label_) {
      limit = limit_; maker = msg.sender; kind = 0x12345678; label = label_;
    }
    function within(uint256 n) public view returns (bool) { return n < limit; }
  }
  contract Born { Child public child; constructor() { child = new Child(7, "born"); } }
  contract Factory {
    event Made(address child);
    function make(uint256 limit) public { emit Made(address(new Child(limit, "made by a factory"))); }
    function bear() public { emit Made(address(new Born().child())); }
  }`;
const factory: Submission = { input: inputOf({ 'F.sol': FACTORY }), contract: 'F.sol:Factory' };

const ofFile = (text: string, name: string, settings: object = {}): Submission => ({
  input: inputOf({ 'C.sol': text }, { ...settings }),
  contract: `C.sol:${name}`,
});
const changed = ({ input, ...rest }: Submission): Submission => ({
  ...rest,
  input: {
    ...input,
    sources: Object.fromEntries(
      Object.entries(input.sources).map(([path, { content }]) => [
        path,
        { content: `${content}\n// another text` },
      ]),
    ),
  },
});

/** A bytecode as read by its caller. */
const readingOf = (code: Uint8Array): DeployedCode => ({
  ...{ code, blockNumber: 1, blockHash: '0x', endpoints: [], witnesses: 1 },
});

/** The stored data of a verification, without times. */
function storedOf({ creationSearch, codeReading, ...contract }: VerifiedContract): object {
  return {
    ...contract,
    readAfterEvent: undefined,
    codeReading: { ...codeReading, blockNumber: 0, blockHash: '' },
    creationSearch: creationSearch?.map((step) => ({ ...step, durationMs: 0 })),
  };
}

describeWith([ANVIL], 'the index of known bytecode', () => {
  let fixture: KnownCodesFixture;
  let factoryAddress: Hex;
  beforeAll(async () => {
    fixture = await startKnownCodes();
    factoryAddress = await deployed(factory);
    await fixture.verify(factoryAddress, factory);
    await fixture.index();
  });
  afterAll(() => fixture.close());

  const deployed = async (
    { input, contract, version = '0.8.37' }: Submission,
    { chainId = VERIFIED_CHAIN_ID, args = '', edit = (code: string) => code } = {},
  ): Promise<Hex> => {
    const [path = '', name = ''] = contract.split(':');
    const compiled = await compileAsDeveloper(version as '0.8.37', input, path, name);
    const chain = chainId === VERIFIED_CHAIN_ID ? fixture.anvil : fixture.otherAnvil;
    return (await deploy(chain, edit(compiled.creationCode), args)).address;
  };
  const made = async (data: Hex): Promise<Hex> => {
    const { transactionHash } = await fixture.anvil.send({ to: factoryAddress, data });
    const { logs } = await fixture.anvil.request<{ logs: { data: string }[] }>(
      'eth_getTransactionReceipt',
      [transactionHash],
    );
    return `0x${logs[0]!.data.slice(-40)}`;
  };
  const codeAt = async (address: Hex, { request } = fixture.anvil): Promise<Buffer> =>
    Buffer.from((await request<string>('eth_getCode', [address, 'latest'])).slice(2), 'hex');
  /** Deploys runtime bytecode with creation bytecode unrelated to any sources. */
  const forged = async (code: Buffer): Promise<Hex> => {
    const init = `61${code.length.toString(16).padStart(4, '0')}80600a3d393df3`;
    const { address } = await deploy(fixture.anvil, init + code.toString('hex'));
    expect(bytesToHex(await codeAt(address))).toBe(bytesToHex(code));
    return address;
  };
  const afresh = () => ({ ...fixture.parts, cache: new KnownCodeCache() });
  /** Expects the same record from a verification with stored sources and one with submitted sources. */
  const expectSame = async (
    address: Hex,
    submission: Submission,
    chainId = VERIFIED_CHAIN_ID,
  ): Promise<VerifiedContract> => {
    const { contract } = await fixture.judge(address, submission, chainId);
    for (const parts of [fixture.parts, afresh()]) {
      const known = await fixture.find(address, { chainId }, parts);
      expect(known && storedOf(known.contract)).toEqual(storedOf(contract));
    }
    return contract;
  };

  test(`verifies ${CHILDREN} children of a verified factory with one compilation of the first and chain requests only`, async () => {
    const { database } = fixture.testDatabase;
    const { signal } = new AbortController();
    const parts = { ...fixture.parts, cache: new KnownCodeCache() };
    const begun = fixture.compilations();
    let ofFirst = 0;
    for (let number = 1; number <= CHILDREN; number += 1) {
      const address = await made(callOf('make(uint256)', word(number)));
      const asked = { chainId: VERIFIED_CHAIN_ID, address };
      const found = await verifyAndSaveKnownCode(parts, asked, 'monitored', signal, silentLogger);
      expect(found?.result.contract).toMatchObject({ ...FULL, origin: 'monitored' });
      expect(found?.saved.outcome).toBe('stored');
      const values = { constructorArguments: expect.stringContaining(word(number)) as string };
      expect(found?.result.contract.creation?.values).toMatchObject(values);
      if (number === 1) ofFirst = fixture.compilations() - begun;
    }
    // The bytecodes and the types of the immutables.
    expect([ofFirst, fixture.compilations() - begun]).toEqual([2, 2]);
    await fixture.index();
    const last = await made(callOf('make(uint256)', word(77)));
    await expectSame(last, { ...factory, contract: 'F.sol:Child' });
    const { differences } = await recount(database, { repair: false });
    expect(differences).toEqual([]);
  });

  test('includes the contracts that a contract creates as soon as it is verified', async () => {
    const text = `contract Pier { function build() public returns (address) { return address(new Boat(3)); } }
      contract Boat { uint public immutable seats; constructor(uint n) { seats = n; } }`;
    for (const content of [text, `${text}\n// ${'x'.repeat(20_000)}`]) {
      const submission = { input: inputOf({ 'P.sol': content }), contract: 'P.sol:Pier' };
      await fixture.verify(await deployed(submission), submission);
      const boat = { ...submission, contract: 'P.sol:Boat' };
      const address = await deployed(boat, { args: word(9) });
      expect(await expectSame(address, boat)).toMatchObject(FULL);
    }
  });

  test('verifies contracts created in a constructor', async () => {
    const address = await made(callOf('bear()'));
    const contract = await expectSame(address, { ...factory, contract: 'F.sol:Child' });
    expect(contract).toMatchObject(FULL);
    const [, born = ''] = [address, contract.deployment.deployer];
    await expectSame(born as Hex, { ...factory, contract: 'F.sol:Born' });
  });

  test('verifies a redeployment on another chain, in full or with another text in part', async () => {
    for (const submission of [factory, changed(factory)]) {
      const address = await deployed(submission, { chainId: OTHER_CHAIN_ID });
      const contract = await expectSame(address, factory, OTHER_CHAIN_ID);
      expect(contract).toMatchObject(submission === factory ? FULL : PARTIAL);
    }
    const child = { ...factory, contract: 'F.sol:Child' };
    const args = word(9) + word(64) + word(1) + Buffer.from('x').toString('hex').padEnd(64, '0');
    const address = await deployed(changed(child), { args, chainId: OTHER_CHAIN_ID });
    expect(await expectSame(address, child, OTHER_CHAIN_ID)).toMatchObject(PARTIAL);
  });

  test('verifies libraries with their own addresses in the bytecode, and contracts that link them', async () => {
    const text = `library Steps { function next(uint n) public pure returns (uint) { return n + 1; } }
      contract Walker { function walk(uint n) public pure returns (uint) { return Steps.next(n); } }`;
    const [steps, walker] = [ofFile(text, 'Steps'), ofFile(text, 'Walker')];
    const link = (address: Hex) => ({
      edit: (code: string) => code.replaceAll(/__\$[0-9a-f]{34}\$__/g, address.slice(2)),
    });
    const first = await deployed(steps);
    await fixture.verify(first, steps);
    await fixture.index();
    const second = await deployed(steps);
    expect(await expectSame(second, steps)).toMatchObject(FULL);
    // Their runtime bytecodes differ only in their own address.
    const code = await codeAt(first);
    expect(await fixture.find(await forged(code))).toBeUndefined();
    const walking = await deployed(walker, link(second));
    expect(await expectSame(walking, walker)).toMatchObject(FULL);
    const lost = await deployed(walker, link(`0x${'ab'.repeat(20)}`));
    await expect(fixture.judge(lost, walker)).rejects.toMatchObject({
      code: 'library_not_deployed',
    });
    expect(await fixture.find(lost)).toBeUndefined();
  });

  test('verifies a partial clone with only the settings shown to matter, like a submission', async () => {
    const details = { yul: true, deduplicate: true, cse: true, constantOptimizer: true };
    const optimizer = { enabled: true, runs: 200, details };
    const submission = ofFile('contract Set { uint public x = 3; uint public y; }', 'Set', {
      optimizer,
      remappings: ['unused/=lib/'],
    });
    await fixture.verify(await deployed(submission), submission);
    await fixture.index();
    expect(await expectSame(await deployed(submission), submission)).toMatchObject(FULL);
    const clone = await deployed(changed(submission));
    const contract = await expectSame(clone, submission);
    expect(contract).toMatchObject(PARTIAL);
    expect(contract.compilation.settings).not.toHaveProperty('optimizer.details');
    await saveMatch(fixture.testDatabase.database, contract);
    await fixture.index();
    await expectSame(await deployed(changed(submission)), submission);
  });

  test('verifies with libraries named in the settings', async () => {
    const text = `library Used { function f() public pure returns (uint) { return 1; } }
      contract Configured { function g() public pure returns (uint) { return Used.f(); } }`;
    const used = await deployed(ofFile(text, 'Used'));
    const submission = ofFile(text, 'Configured', { libraries: { 'C.sol': { Used: used } } });
    await fixture.verify(await deployed(submission), submission);
    await fixture.index();
    expect(await expectSame(await deployed(submission), submission)).toMatchObject(FULL);
    expect(await expectSame(await deployed(changed(submission)), submission)).toMatchObject(
      PARTIAL,
    );
  });

  test('does not verify a forged internal function, and an honest one only with its creation', async () => {
    const submission = ofFile(
      `contract Pointed { function() internal immutable done; constructor() { done = stay; } function stay() internal {}
         function go() external { done(); } function drain() external { payable(msg.sender).transfer(address(this).balance); } }`,
      'Pointed',
    );
    const address = await deployed(submission);
    await fixture.verify(address, submission);
    await fixture.index();
    const { contract } = await fixture.judge(address, submission);
    const [immutable] = contract.runtime?.transformations ?? [];
    const code = await codeAt(address);
    code.write(word(0x42), immutable?.['offset'] as number, 'hex');
    const begun = fixture.compilations();
    for (const each of [code, await codeAt(address)]) {
      const forgery = await forged(each);
      await expect(fixture.judge(forgery, submission)).rejects.toMatchObject({ code: 'no_match' });
      expect(await fixture.find(forgery, {}, afresh())).toBeUndefined();
    }
    // All compilations that verification with sources needs were cached.
    expect(fixture.compilations() - begun).toBe(0);
    expect(await expectSame(await deployed(submission), submission)).toMatchObject(FULL);
  });

  test('does not verify a value outside its type', async () => {
    const child = await made(callOf('make(uint256)', word(5)));
    const { contract } = await fixture.judge(child, { ...factory, contract: 'F.sol:Child' });
    const { immutables } = contract.runtime?.values as { immutables: Record<string, string> };
    const [id] = Object.entries(immutables).find(([, value]) => value.startsWith('0x12345678'))!;
    const code = await codeAt(child);
    for (const { id: of, offset } of contract.runtime?.transformations ?? []) {
      if (of === id) code.fill(0xff, offset as number, (offset as number) + 32);
    }
    expect(await fixture.find(await forged(code))).toBeUndefined();
  });

  test('costs no chain requests if the bytecode was read and nothing resembles it', async () => {
    const unknown = readingOf(Buffer.from(`60016002${'5b'.repeat(90)}`, 'hex'));
    const refuse = () => Promise.reject(new Error('asked'));
    const parts = { ...fixture.parts, readDeployedCode: refuse, findCreation: refuse };
    const address: Hex = `0x${'cd'.repeat(20)}`;
    for (let time = 0; time < 2; time += 1) {
      expect(await fixture.find(address, { deployed: unknown }, parts)).toBeUndefined();
    }
    await expect(
      fixture.find(address, { deployed: readingOf(await codeAt(factoryAddress)) }, parts),
    ).rejects.toThrow('asked');
  });

  test('recompiles what an earlier version stored without immutable types, and then keeps those', async () => {
    const { database } = fixture.testDatabase;
    const submission = ofFile(
      'contract Old { int16 immutable n; constructor(int16 n_) { n = n_; } function get() public view returns (int) { return n; } }',
      'Old',
    );
    const args = word(3);
    await fixture.verify(await deployed(submission, { args }), submission);
    await fixture.index();
    await database.query(sql('test forget types', 'DELETE FROM immutable_types'));
    const second = await deployed(submission, { args });
    const begun = fixture.compilations();
    const found = await fixture.find(second, {}, afresh());
    expect(found?.contract).toMatchObject(FULL);
    expect(fixture.compilations()).toBeGreaterThan(begun);
    await saveMatch(database, found!.contract);
    const after = fixture.compilations();
    expect(
      (await fixture.find(await deployed(submission, { args }), {}, afresh()))?.contract,
    ).toMatchObject(FULL);
    expect(fixture.compilations()).toBe(after);
    const out = await codeAt(second);
    const { transformations = [] } = found!.contract.runtime ?? {};
    for (const { offset } of transformations)
      out.fill(0x7f, offset as number, (offset as number) + 32);
    expect(await fixture.find(await forged(out), {}, afresh())).toBeUndefined();
  });

  test('includes the compiled sources of an import', async () => {
    const { database } = fixture.testDatabase;
    const submission = ofFile(
      `contract Imported { function make() public returns (address) { return address(new Made()); } }
       contract Made { uint public w = 11; }`,
      'Imported',
    );
    const address = await deployed(submission);
    const { contract } = await fixture.judge(address, submission);
    const { compiler, language, name, fullyQualifiedName, version, settings, metadata, sources } =
      contract.compilation;
    const described = { compiler, language, name, fullyQualifiedName, version, settings, sources };
    const imported = { ...described, artifacts: {}, ...(metadata !== undefined && { metadata }) };
    await saveMatch(database, {
      ...{ chainId: 7, address, runtimeMatch: 'full', creationMatch: null },
      ...{ origin: 'imported', deployment: {}, compilation: imported },
    });
    await fixture.index();
    expect(await expectSame(address, submission)).toMatchObject(FULL);
    const child = { ...submission, contract: 'C.sol:Made' };
    expect(await expectSame(await deployed(child), child)).toMatchObject(FULL);
  });
});
