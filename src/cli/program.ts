import { Command } from 'commander';
import { readPackageVersion } from '../lib/package-version.ts';
import { registerChains } from './chains.ts';
import { type CliContext } from './cli-context.ts';
import { registerCompilers } from './compilers.ts';
import { registerConfig } from './config.ts';
import { registerCreationTransaction } from './creation-transaction.ts';
import { registerDemo } from './demo.ts';
import { registerImport } from './import.ts';
import { registerJobs } from './jobs.ts';
import { registerRecheck } from './recheck.ts';
import { registerRecount } from './recount.ts';
import { registerReload } from './reload.ts';
import { reportError } from './report-error.ts';
import { registerStart } from './start.ts';
import { registerVerify } from './verify.ts';
import { registerVersion } from './version.ts';
import { registerWithdraw } from './withdraw.ts';

const AFTER_HELP = `
Exit codes: 0 done, 1 something to mend, 6 a comparison found differences, 75 try again later,
130 stopped by a signal.
Every key of the configuration: fullmatch config example`;

/** Runs a command line, without the program's own name, and returns the exit code. Never throws. */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
  try {
    if (args.length === 0) createProgram(context).outputHelp();
    else await createProgram(context).parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    return reportError(error, wantsJson(args), context);
  }
}

function createProgram(context: CliContext): Command {
  const program = new Command('fullmatch')
    .description('Self-hosted smart-contract verification.')
    .version(readPackageVersion(), '-V, --version', 'Prints the version.')
    .helpOption('-h, --help', 'Prints this help.')
    .helpCommand('help [command]', 'Prints the help of a command.')
    .addHelpText('after', AFTER_HELP)
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      getOutHelpWidth: () => context.stdout.columns ?? 100,
      getErrHelpWidth: () => context.stderr.columns ?? 100,
      outputError: (text, write) => write(text.replace(/^error: /, 'error[invalid_parameter]: ')),
    })
    .exitOverride();
  registerStart(program, context);
  registerReload(program, context);
  registerVerify(program, context);
  registerCreationTransaction(program, context);
  registerJobs(program, context);
  registerImport(program, context);
  registerChains(program, context);
  registerCompilers(program, context);
  registerDemo(program, context);
  registerRecheck(program, context);
  registerRecount(program, context);
  registerWithdraw(program, context);
  registerConfig(program, context);
  registerVersion(program, context);
  return program;
}

function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? args.length : end).includes('--json');
}
