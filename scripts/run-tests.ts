/**
 * `npm test` runs the fast suite, `npm run test:slow` the slow one; with file names, those files of either suite.
 * Other arguments are passed to Vitest.
 *
 * A failed file is rerun once, alone, after all others. If it then passes, it is reported as flaky with the output of
 * both runs, and the run is green. More than three flaky files, or one file that fails twice, make it red.
 */
import path from 'node:path';
import { createVitest, parseCLI, type TestModule, type Vitest } from 'vitest/node';

/** A flaky file is a fault to fix; more than this many mean a broken suite. */
const FLAKY_FILES_AT_MOST = 3;
/** More failed files than this share a cause: rerunning each would only waste time. */
const RERUN_FILES_AT_MOST = 10;

/** A file that failed in the full run, and the result of its rerun. */
interface FailedFile {
  readonly name: string;
  readonly firstOutput: string;
  /** Undefined if it was not rerun. */
  readonly rerun?: { readonly passed: boolean; readonly output: string };
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const nameOf = (module: TestModule): string =>
  path.relative(module.project.vitest.config.root, module.moduleId);

/** The errors of a file's tests, suites and collection, each with the name of the failed item. */
function describeOutcome(module: TestModule): string {
  const failures = [
    { name: nameOf(module), errors: module.errors() },
    ...[...module.children.allSuites()].map((suite) => ({
      name: suite.fullName,
      errors: suite.errors(),
    })),
    ...[...module.children.allTests('failed')].map((test) => ({
      name: test.fullName,
      errors: test.result().errors ?? [],
    })),
  ];
  const lines = failures.flatMap(({ name, errors }) =>
    errors.map(
      (error) => `  ${name}\n    ${(error.stack ?? error.message).replaceAll('\n', '\n    ')}`,
    ),
  );
  if (lines.length > 0) return lines.join('\n');
  const passed = [...module.children.allTests('passed')].length;
  return hasPassed(module)
    ? `  passed: ${passed} tests`
    : `  ended as "${module.state()}", without an error`;
}

function addCounts(counts: Counts, module: TestModule): void {
  let testsFailed = 0;
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    if (state === 'passed') counts.passed += 1;
    else if (state === 'failed') testsFailed += 1;
    else counts.skipped += 1;
  }
  // A file that cannot be loaded or finished, or whose hook fails, counts as one failure.
  counts.failed += hasPassed(module) ? testsFailed : Math.max(testsFailed, 1);
}

/** Whether a file ran to its end without a failure: Vitest's `ok` is also true if its worker crashed before. */
const hasPassed = (module: TestModule): boolean => ['passed', 'skipped'].includes(module.state());

/** Runs a file again. Errors outside its tests fail it too. */
async function runAgain(
  vitest: Vitest,
  module: TestModule,
): Promise<{ readonly module: TestModule; readonly passed: boolean }> {
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications([
    module.toTestSpecification(),
  ]);
  // A named file can be in two projects, and the result has the files of both.
  const second = testModules.find(
    ({ moduleId, project }) => moduleId === module.moduleId && project === module.project,
  );
  if (second === undefined) throw new Error(`${nameOf(module)} was not run again`);
  return { module: second, passed: hasPassed(second) && unhandledErrors.length === 0 };
}

/**
 * Reports the failed files, each with the output of its runs.
 * @returns whether the run still counts as green
 */
function report(failed: readonly FailedFile[]): boolean {
  const flaky = failed.filter(({ rerun }) => rerun?.passed === true);
  const broken = failed.filter((file) => !flaky.includes(file));
  for (const { name, firstOutput, rerun } of flaky) {
    console.log(
      `\nflaky: ${name}\n first run:\n${firstOutput}\n second run, alone:\n${rerun?.output}`,
    );
  }
  for (const { name, rerun } of broken) {
    console.log(`\n${rerun === undefined ? 'failed' : 'failed twice'}: ${name}`);
  }
  if (flaky.length > FLAKY_FILES_AT_MOST) {
    console.log(`\n${flaky.length} flaky files; ${FLAKY_FILES_AT_MOST} are allowed.`);
  }
  return broken.length === 0 && flaky.length <= FLAKY_FILES_AT_MOST;
}

async function main(suite: string, args: readonly string[]): Promise<boolean> {
  const { filter, options } = parseCLI(['vitest', 'run', ...args]);
  const isWhole = filter.length === 0 && options.project === undefined;
  const vitest = await createVitest('test', {
    ...options,
    watch: false,
    // A forgotten `test.only` would skip the rest of its file.
    ...(isWhole && { project: [`${suite}*`], allowOnly: false }),
  });
  try {
    const first = await vitest.start(filter);
    const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
    const failed: FailedFile[] = [];
    const modules = first.testModules.filter(hasPassed);
    const toRepeat = first.testModules.filter((module) => !hasPassed(module));
    // Read before any file reruns: a rerun replaces the results of a file.
    const outputs = toRepeat.map(describeOutcome);
    for (const [index, module] of toRepeat.entries()) {
      const file = { name: nameOf(module), firstOutput: outputs[index] ?? '' };
      if (toRepeat.length > RERUN_FILES_AT_MOST) {
        failed.push(file);
        modules.push(module);
        continue;
      }
      console.log(`\nrerun, alone: ${file.name}`);
      const { module: second, passed } = await runAgain(vitest, module);
      failed.push({ ...file, rerun: { passed, output: describeOutcome(second) } });
      modules.push(second);
      // The error was outside the tests.
      if (!passed && hasPassed(second)) counts.failed += 1;
    }
    for (const module of modules) addCounts(counts, module);
    const isGreen = report(failed) && first.unhandledErrors.length === 0;
    await vitest.close();
    console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
    return isGreen && modules.length > 0;
  } catch (error) {
    await vitest.close();
    throw error;
  }
}

const [suite = 'fast', ...args] = process.argv.slice(2);
process.exitCode = (await main(suite, args)) ? 0 : 1;
