/**
 * Records what the tests compile, for those who run them for the first time: after a whole `npm test`,
 * `npx tsx scripts/record-compilations.ts` packs what was used within the last hours (two, unless another number is
 * given). What was recorded and is used no more is left out.
 */
import { packCompilations } from '../test/support/recorded-compilations.ts';

const hours = Number(process.argv[2] ?? 2);
const since = new Date(Date.now() - hours * 3_600_000);
process.stdout.write(`${await packCompilations(since)} compilations recorded\n`);
