import { Command, CommanderError } from 'commander';
import { readPackageVersion } from '../lib/package-version.ts';
import { type CliContext, type OutputStream } from './cli-context.ts';
import { type CallableCommand, type CommandGroup } from './command-entry.ts';
import { COMMANDS } from './commands.ts';
import { reportError } from './report-error.ts';

const AFTER_HELP = `
Exit codes: 0 done, 1 something must be fixed, 6 a comparison found differences, 75 try again later,
130 stopped by a signal.
Every key of the configuration: fullmatch config example`;

/** Runs a command line, without the program name, and returns the exit code. Never throws. */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
  let hasResult = false;
  const write = (text: string): unknown => {
    hasResult = true;
    return context.stdout.write(text);
  };
  const stdout = Object.assign(Object.create(context.stdout) as OutputStream, { write });
  const program = createProgram({ ...context, stdout });
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    const argumentFault = await findArgumentFault(error, program, args);
    return reportError(error, { json: wantsJson(args), hasResult, argumentFault }, context);
  }
}

/** Loaded only for invalid arguments. */
async function findArgumentFault(
  error: unknown,
  program: Command,
  args: readonly string[],
): Promise<string | undefined> {
  if (!(error instanceof CommanderError) || error.exitCode === 0) return undefined;
  const { findCommand, describeArgumentError } = await import('./suggest-argument.ts');
  return describeArgumentError(error, findCommand(program, args));
}

function createProgram(context: CliContext): Command {
  const program = new Command('fullmatch')
    .description('Self-hosted smart-contract verification.')
    .version(readPackageVersion(), '-V, --version', 'Print the version.')
    .helpOption('-h, --help', 'Print this help.')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText('after', AFTER_HELP)
    .showSuggestionAfterError(false)
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      getOutHelpWidth: () => context.stdout.columns ?? 100,
      getErrHelpWidth: () => context.stderr.columns ?? 100,
      // Invalid arguments are reported like every other error.
      outputError: () => undefined,
    })
    .exitOverride();
  addCommands(program, COMMANDS, context);
  return program;
}

/** Adds commands by name and description; only the called command loads its file with arguments, options and action. */
function addCommands(
  parent: Command,
  entries: readonly (CallableCommand | CommandGroup)[],
  context: CliContext,
): void {
  const loaders = new Map<string, CallableCommand['load']>();
  for (const entry of entries) {
    const command = parent.command(entry.name).description(entry.description);
    if ('commands' in entry) addCommands(command, entry.commands, context);
    else {
      loaders.set(entry.name, entry.load);
      command.addHelpText('after', examplesText(entry.examples));
    }
  }
  parent.hook('preSubcommand', async (_parent, command) => {
    const define = await loaders.get(command.name())?.();
    define?.(command, context);
  });
  // Commander's own help command would print a command that is not loaded.
  parent
    .helpCommand(false)
    .command('help')
    .description('Print the help of a command.')
    .argument('[command...]')
    .action(async (words: readonly string[]) => {
      const [word] = words;
      if (word !== undefined && parent.commands.every((command) => command.name() !== word)) {
        parent.error(`error: unknown command '${word}'`);
      }
      await parent.parseAsync([...words, '--help'], { from: 'user' });
    });
}

function examplesText(examples: readonly string[]): string {
  const lines = examples.map((example) => `\n  fullmatch ${example}`);
  return `\n${examples.length === 1 ? 'Example' : 'Examples'}:${lines.join('')}`;
}

function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args
    .slice(0, end === -1 ? args.length : end)
    .some((word) => word === '--json' || word === '--ndjson');
}
