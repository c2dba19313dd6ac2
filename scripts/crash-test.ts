/**
 * Kills a service and an import many times: `npx tsx scripts/crash-test.ts [rounds]`, 200 by default. Prints
 * progress, on a terminal after each round and otherwise every ten seconds, and the report as JSON at the
 * end. Exits with 6 if something acknowledged was lost or a count is wrong.
 */
import { type CrashReport, runCrashRounds } from '../test/support/crash-rounds.ts';

const rounds = Number(process.argv[2] ?? 200);
const everyMs = process.stdout.isTTY ? 0 : 10_000;
let toldAt = 0;

function tell(report: CrashReport): void {
  if (Date.now() - toldAt < everyMs && report.rounds < rounds) return;
  toldAt = Date.now();
  const { acknowledged, interrupted, lost, differences } = report;
  const findings = `${lost.length} lost, ${differences.length} counts wrong`;
  console.log(
    `${report.rounds} of ${rounds} rounds, ${interrupted} imports interrupted, ${acknowledged} contracts acknowledged: ${findings}`,
  );
}

const report = await runCrashRounds(rounds, tell);
console.log(JSON.stringify(report));
if (report.lost.length > 0 || report.differences.length > 0) process.exitCode = 6;
