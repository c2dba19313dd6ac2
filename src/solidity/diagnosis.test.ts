import { expect, test } from 'vitest';
import { describeDiagnosis, type Diagnosis, diagnosisOfChanges } from './diagnosis.ts';

const SIZES = { compiled: 1_049, onChain: 1_050 };
const PLACE = { path: 'Token.sol', line: 21, text: 'a += b;' };

test.each<[Diagnosis, string | undefined]>([
  [{}, undefined],
  [{ contract: 'src/A.sol:Vault' }, 'Matches as Vault (src/A.sol:Vault).'],
  [
    diagnosisOfChanges({ optimizer: { enabled: true, runs: 1_000 } }),
    'Matches with the optimizer on (1,000 runs): optimizer.enabled: true, optimizer.runs: 1000.',
  ],
  [
    diagnosisOfChanges({ optimizer: { enabled: false } }),
    'Matches with the optimizer off: optimizer.enabled: false.',
  ],
  [
    diagnosisOfChanges({ compilerVersion: '0.8.37', evmVersion: 'paris', viaIR: true }),
    'Matches with compiler 0.8.37, EVM version paris and viaIR on: compilerVersion: 0.8.37, evmVersion: paris, viaIR: true.',
  ],
  [{ settings: 'optimizer.runs: 1000' }, 'Matches with optimizer.runs: 1000.'],
  [
    { compiler: { onChain: '0.8.37', used: '0.8.30' }, sizes: SIZES },
    'The contract was compiled with 0.8.37, your sources with 0.8.30.',
  ],
  [
    { place: { ...PLACE, function: 'transfer' }, sizes: SIZES },
    'Differs in transfer, Token.sol:21; your sources compile to 1,049 bytes, the contract has 1,050.',
  ],
  [{ place: PLACE }, 'Differs in Token.sol:21.'],
  [{ sizes: SIZES }, 'Your sources compile to 1,049 bytes, the contract has 1,050.'],
  [
    { sizes: { compiled: 7, onChain: 7 } },
    'Your sources compile to 7 bytes, the same size as the contract.',
  ],
])('the diagnosis %j is one sentence', (diagnosis, sentence) => {
  expect(describeDiagnosis(diagnosis)).toBe(sentence);
});
