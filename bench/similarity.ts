/**
 * Time to verify a child of a verified factory, from the request without sources to the end of its job, with
 * a service started as with `fullmatch start` on an anvil chain, compared with an ordinary verification of
 * another child with its sources in the same run: `npm run build && npx tsx bench/similarity.ts`.
 */
import { writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';
import { type Hex } from '../src/lib/hex.ts';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID } from '../test/support/anvil.ts';
import { ALL_CHAINS, startProgram } from '../test/support/booted-service.ts';
import { callOf, word } from '../test/support/creation-deployments.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import { compileAsDeveloper, inputOf } from '../test/support/developer.ts';
import { post } from '../test/support/verification-client.ts';
import { NEWEST } from './compiled-codes.ts';
import { median } from './median.ts';

const CHILDREN = 100;
const WITH_SOURCES = 10;
const SOURCE = `
  contract Child { uint256 public immutable limit; address public immutable maker;
    constructor(uint256 limit_) { limit = limit_; maker = msg.sender; } }
  contract Factory { event Made(address child);
    function make(uint256 limit) public { emit Made(address(new Child(limit))); } }`;

interface Job {
  readonly isJobCompleted: boolean;
  readonly contract: { readonly match: string | null };
}

const anvil = await startAnvil({ chainId: VERIFIED_CHAIN_ID });
const folder = await createTemporaryFolder('fullmatch-bench-');
try {
  await writeFile(path.join(folder.path, 'fullmatch.yaml'), configOf(anvil));
  const service = await startProgram({
    workingDirectory: folder.path,
    environment: { ...ALL_CHAINS, FULLMATCH_DATA_DIR: path.join(folder.path, 'data') },
  });
  /** Milliseconds from the request to the end of its job, or undefined without a match. */
  const timeOf = async (place: string, body: object): Promise<number | undefined> => {
    const begun = performance.now();
    const response = await post(`${service.apiUrl}/v2/verify/${place}`, body);
    if (response.status !== 202) throw new Error(await response.text());
    const { verificationId } = (await response.json()) as { verificationId: string };
    for (;;) {
      const answer = await fetch(`${service.apiUrl}/v2/verify/${verificationId}`);
      const job = (await answer.json()) as Job;
      if (!job.isJobCompleted) continue;
      return job.contract.match === null ? undefined : performance.now() - begun;
    }
  };
  try {
    const input = inputOf({ 'F.sol': SOURCE });
    const ofContract = (name: string): object => ({
      ...{ stdJsonInput: input, compilerVersion: NEWEST, contractIdentifier: `F.sol:${name}` },
    });
    const { creationCode } = await compileAsDeveloper(NEWEST, input, 'F.sol', 'Factory');
    const { address: factory } = await deploy(anvil, creationCode);
    const make = async (limit: number): Promise<Hex> => {
      const data = callOf('make(uint256)', word(limit));
      const { transactionHash } = await anvil.send({ to: factory, data });
      const { logs } = await anvil.request<{ logs: { data: string }[] }>(
        'eth_getTransactionReceipt',
        [transactionHash],
      );
      return `0x${logs[0]?.data.slice(-40) ?? ''}`;
    };
    const cold = await timeOf(`${VERIFIED_CHAIN_ID}/${factory}`, ofContract('Factory'));
    const warmUp = await make(0);
    const similar = (address: Hex) => timeOf(`similarity/${VERIFIED_CHAIN_ID}/${address}`, {});
    while ((await similar(warmUp)) === undefined);
    const times: number[] = [];
    for (let limit = 1; limit <= CHILDREN; limit += 1) {
      times.push((await similar(await make(limit))) ?? Number.NaN);
    }
    const compiled: number[] = [];
    for (let limit = 1; limit <= WITH_SOURCES; limit += 1) {
      const place = `${VERIFIED_CHAIN_ID}/${await make(CHILDREN + limit)}`;
      compiled.push((await timeOf(place, ofContract('Child'))) ?? Number.NaN);
    }
    console.table([
      {
        children: CHILDREN,
        'similarity, median ms': median(times).toFixed(0),
        'longest ms': Math.max(...times).toFixed(0),
        'with sources, median ms': median(compiled).toFixed(0),
        'first with sources, ms': (cold ?? Number.NaN).toFixed(0),
      },
    ]);
    console.log(`load: ${loadavg()[0]?.toFixed(1) ?? '?'}`);
  } finally {
    service.child.kill('SIGTERM');
    await service.ended;
  }
} finally {
  await anvil.stop();
  await folder.remove();
}
