import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { sampleContract } from './support/sample-contracts.ts';
import { VERIFIED_CHAIN_ID } from './support/anvil.ts';
import {
  bodyOfSample,
  deploySample,
  startVerifyingService,
  suiteContract,
  type VerifyingService,
} from './support/verifying-service.ts';

let verifying: VerifyingService;

describeWith([ANVIL], 'an imported match', () => {
  beforeAll(async () => {
    verifying = await startVerifyingService();
  });
  afterAll(() => verifying.close());

  test('is replaced by a verification if it falsely claims to be full', async () => {
    const sample = await suiteContract('0.8.37', 'Plain');
    const { address, transactionHash } = await deploySample(verifying.anvil, sample);
    const claim = sampleContract(VERIFIED_CHAIN_ID, address, { runtimeMatch: 'full' });
    await saveMatch(verifying.testDatabase.database, claim);
    await verifying.verify(
      address,
      bodyOfSample(sample, { creationTransactionHash: transactionHash }),
    );
    const better = sampleContract(VERIFIED_CHAIN_ID, address, { runtimeMatch: 'full' });
    await saveMatch(verifying.testDatabase.database, better);
    const { compilation, match } = await verifying.contractAt(address);
    expect(compilation).toMatchObject({ name: 'Plain' });
    expect(match).toBe('exact_match');
  });

  test('of the same level is replaced by a verification, even if imported again later', async () => {
    const sample = await suiteContract('0.8.37', 'Plain');
    const { address, transactionHash } = await deploySample(verifying.anvil, sample);
    const { database } = verifying.testDatabase;
    const claim = sampleContract(VERIFIED_CHAIN_ID, address, { runtimeMatch: 'partial' });
    await saveMatch(database, claim);
    const more = { creationTransactionHash: transactionHash };
    await verifying.verify(
      address,
      bodyOfSample(sample, more, (content) => `${content}// another`),
    );
    await saveMatch(database, { ...claim, runtimeMatch: 'partial' });
    const shown = await verifying.contractAt(address);
    expect(shown).toMatchObject({ match: 'match', compilation: { name: 'Plain' } });
    // Only another text proven by the metadata hash may replace it.
    await verifying.verify(
      address,
      bodyOfSample(sample, more, (content) => `${content}// a third`),
    );
    expect((await verifying.contractAt(address)).sources).toEqual(shown.sources);
    await verifying.verify(address, bodyOfSample(sample, more));
    expect((await verifying.contractAt(address)).match).toBe('exact_match');
  });
});
