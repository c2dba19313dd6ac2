/**
 * Records what the tests have compiled, for those who run them for the first time:
 * `rm -r node_modules/.cache/fullmatch-compilations test/fixtures/compilations.br && npm test`, then
 * `npx tsx scripts/record-compilations.ts`.
 */
import { packCompilations } from '../test/support/recorded-compilations.ts';

process.stdout.write(`${await packCompilations()} compilations recorded\n`);
