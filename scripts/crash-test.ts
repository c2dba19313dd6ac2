/** Kills a service and an import many times over: `npx tsx scripts/crash-test.ts [rounds]`, 200 where not said. */
import { runCrashRounds } from '../test/support/crash-rounds.ts';

const rounds = Number(process.argv[2] ?? 200);
const report = await runCrashRounds(rounds, (round, acknowledged) => {
  if (round % 10 === 0)
    console.log(`${round} of ${rounds} rounds, ${acknowledged} contracts acknowledged`);
});
console.log(JSON.stringify(report));
if (report.lost.length > 0 || report.differences.length > 0) process.exitCode = 6;
