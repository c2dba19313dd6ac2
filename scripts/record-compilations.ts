/**
 * Records the compilations of the tests for first-time runs: after a complete `npm test`, `npx tsx
 * scripts/record-compilations.ts` packs those used within the last hours (two by default). Recordings that
 * are no longer used are dropped.
 */
import { packCompilations } from '../test/support/recorded-compilations.ts';

const hours = Number(process.argv[2] ?? 2);
const since = new Date(Date.now() - hours * 3_600_000);
process.stdout.write(`${await packCompilations(since)} compilations recorded\n`);
