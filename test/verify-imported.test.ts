import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { saveMatch } from '../src/repository/save-matches.ts';
import { findAnvil, NO_ANVIL } from './support/anvil.ts';
import { sampleContract } from './support/sample-contracts.ts';
import { VERIFIED_CHAIN_ID } from './support/verification-fixture.ts';
import {
  bodyOfSample,
  deploySample,
  startVerifyingService,
  suiteContract,
  type VerifyingService,
} from './support/verifying-service.ts';

const installed = findAnvil() !== undefined;
let verifying: VerifyingService;

describe.skipIf(!installed)(
  `a contract whose match was imported${installed ? '' : ` (${NO_ANVIL})`}`,
  () => {
    beforeAll(async () => {
      verifying = await startVerifyingService();
    });
    afterAll(() => verifying.close());

    test.each(['full', 'partial'] as const)(
      'shows what is verified in the place of a false claim of a %s match',
      async (claimed) => {
        const sample = await suiteContract('0.8.37', 'Plain');
        const { address, transactionHash } = await deploySample(verifying.anvil, sample);
        const claim = sampleContract(VERIFIED_CHAIN_ID, address, { runtimeMatch: claimed });
        await saveMatch(verifying.testDatabase.database, claim);
        const edit = (content: string): string =>
          claimed === 'full' ? content : `${content}// another`;
        const more = { creationTransactionHash: transactionHash };
        await verifying.verify(address, bodyOfSample(sample, more, edit));
        const better = sampleContract(VERIFIED_CHAIN_ID, address, { runtimeMatch: 'full' });
        await saveMatch(verifying.testDatabase.database, better);
        const { compilation, match } = await verifying.contractAt(address);
        expect(compilation).toMatchObject({ name: 'Plain' });
        expect(match).toBe(claimed === 'full' ? 'exact_match' : 'match');
      },
    );
  },
);
