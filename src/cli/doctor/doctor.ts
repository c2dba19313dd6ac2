import { type Command } from 'commander';
import { type LoadedConfig } from '../../config/config.ts';
import { openCore } from '../../core/open-core.ts';
import { asFullmatchError, FullmatchError, messageOf } from '../../errors.ts';
import { readPackageVersion } from '../../lib/package-version.ts';
import { printableText } from '../../lib/printable-text.ts';
import { silentLogger } from '../../log.ts';
import { writeResult, type CliContext } from '../cli-context.ts';
import { addConfigOptions, loadCommandConfig, type ParsedOptions } from '../config-options.ts';
import { checkChains, checkClock, checkList } from './check-chains.ts';
import { checkCompilers, checkMirror } from './check-compilers.ts';
import { checkDatabase, checkDataDirectory, checkDisk, checkMigrations } from './check-data.ts';
import { checkPorts, checkProxies, checkPublicUrls } from './check-hosts.ts';
import { checkMachine } from './check-machine.ts';
import { type DoctorDependencies, openDoctorDependencies } from './doctor-dependencies.ts';
import { type Area, AreaReport, AREAS, type Finding, type Level } from './finding.ts';
import { countOf } from '../../lib/count-of.ts';

const AFTER_HELP = `
Changes nothing, and works with or without a running service. Run it with the configuration, the environment
and the user of the service. Exits with 0 if everything is fine, 1 if there are only warnings, and 2 if there are faults.`;

const MAX_CHARACTERS = 2_000;

/** `fullmatch doctor`: checks everything the service needs, and explains how to fix what is wrong. */
export function defineDoctor(command: Command, context: CliContext): void {
  addConfigOptions(command, { listeners: true })
    .option('--json', 'Print JSON.')
    .addHelpText('after', AFTER_HELP)
    .action(async (options: ParsedOptions) => {
      const findings = await examine(options, context);
      const counts = countLevels(findings);
      const version = readPackageVersion();
      const facts = { healthy: counts.fault === 0, version, counts, findings };
      writeResult(context, options, facts, () => reportText(findings, counts));
      if (counts.fault + counts.warning === 0) return;
      const level = counts.fault > 0 ? 'fault' : 'warning';
      throw new FullmatchError(
        level === 'fault' ? 'installation_faulty' : 'installation_warnings',
        `${countOf(counts[level], level)}; see the fixes above.`,
        { details: { codes: codesOf(findings, level) } },
      );
    });
}

async function examine(options: ParsedOptions, context: CliContext): Promise<readonly Finding[]> {
  const reports = Object.fromEntries(AREAS.map((area) => [area, new AreaReport(area)]));
  const reportOf = (area: Area): AreaReport => (reports as Record<Area, AreaReport>)[area];
  const loaded = readConfiguration(options, context, reportOf('configuration'));
  const machine = attempt(reportOf('machine'), (report) => checkMachine(report, loaded?.config));
  if (loaded !== undefined) {
    const core = openCore(loaded, { registry: 'configured', log: async () => silentLogger });
    try {
      await examineParts(openDoctorDependencies(core, context.signal), reportOf);
    } finally {
      await core.close();
    }
  }
  await machine;
  context.signal.throwIfAborted();
  return AREAS.flatMap((area) => reportOf(area).findings);
}

/** Checks all areas concurrently; checks that depend on others await their results. */
async function examineParts(parts: DoctorDependencies, reportOf: (area: Area) => AreaReport) {
  const checks: Partial<
    Record<Area, (report: AreaReport, parts: DoctorDependencies) => Promise<void> | void>
  > = {
    'data directory': checkDataDirectory,
    disk: checkDisk,
    database: checkDatabase,
    migrations: checkMigrations,
    clock: checkClock,
    ports: (report) => checkPorts(report, reportOf('service'), parts),
    'public urls': checkPublicUrls,
    proxies: checkProxies,
    compilers: checkCompilers,
    mirror: checkMirror,
    list: checkList,
    chains: checkChains,
  };
  await Promise.all(
    Object.entries(checks).map(([area, check]) =>
      attempt(reportOf(area as Area), (report) => check(report, parts)),
    ),
  );
}

/** Runs a check; an error of ours becomes a finding. */
async function attempt(
  report: AreaReport,
  check: (report: AreaReport) => Promise<void> | void,
): Promise<void> {
  try {
    await check(report);
  } catch (error) {
    const known = asFullmatchError(error);
    if (known instanceof FullmatchError) report.refused(known);
    // A file or folder that cannot be read is not a fault in itself; another check reports what needs it.
    else if (error instanceof Error && 'syscall' in error) report.unknown(`${messageOf(error)}.`);
    else report.fault('internal_error', messageOf(error));
  }
}

function readConfiguration(
  options: ParsedOptions,
  context: CliContext,
  report: AreaReport,
): LoadedConfig | undefined {
  try {
    const loaded = loadCommandConfig(options, context);
    report.ok(
      loaded.file === undefined ? 'no file: defaults and environment' : `${loaded.file} is sound`,
    );
    return loaded;
  } catch (error) {
    if (!(error instanceof FullmatchError)) throw error;
    report.refused(error);
    report.unknown('What the configuration decides is not checked.', 'fullmatch config check');
    return undefined;
  }
}

type Counts = Readonly<Record<Level, number>>;

function countLevels(findings: readonly Finding[]): Counts {
  const count = (level: Level): number => findings.filter((each) => each.level === level).length;
  return {
    ...{ fault: count('fault'), warning: count('warning') },
    ...{ unknown: count('unknown'), ok: count('ok') },
  };
}

function codesOf(findings: readonly Finding[], level: Level): readonly string[] {
  return [...new Set(findings.filter((each) => each.level === level).map(({ code }) => code))];
}

const MARKS: Readonly<Record<Level, string>> = {
  ok: 'ok',
  unknown: '?',
  warning: 'warning',
  fault: 'FAULT',
};

/** Renders each finding as a line, with its fix below. */
function reportText(findings: readonly Finding[], { fault, warning }: Counts): string {
  const areaWidth = Math.max(...AREAS.map(({ length }) => length));
  const markWidth = Math.max(...Object.values(MARKS).map(({ length }) => length));
  const indent = ' '.repeat(areaWidth + markWidth + 4);
  const lines = findings.flatMap(({ area, level, code, message, fix }, at) => {
    const shown = findings[at - 1]?.area === area ? '' : area;
    const head = `${shown.padEnd(areaWidth)}  ${MARKS[level].padEnd(markWidth)}  `;
    const [first = '', ...more] = message
      .split('\n')
      .map((line) => printableText(line, MAX_CHARACTERS));
    const isOpen = level === 'warning' || level === 'fault';
    return [
      `${head}${first}${isOpen ? ` [${code}]` : ''}`,
      ...more.map((line) => `${indent}${line}`),
      ...(fix === undefined ? [] : [`${indent}→ ${printableText(fix, MAX_CHARACTERS)}`]),
    ];
  });
  const verdict =
    fault + warning === 0
      ? 'Healthy.'
      : `${countOf(fault, 'fault')}, ${countOf(warning, 'warning')}.`;
  return `${lines.join('\n')}\n\n${verdict}\n`;
}
