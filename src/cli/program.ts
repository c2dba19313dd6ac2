import { Command } from 'commander';
import { readPackageVersion } from '../lib/package-version.ts';
import { type CliContext } from './cli-context.ts';
import { COMMANDS, type CallableCommand, type CommandGroup } from './commands.ts';
import { reportError } from './report-error.ts';

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
    .configureHelp({ subcommandTerm: (command) => command.name() })
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
  addCommands(program, COMMANDS, context);
  return program;
}

/** Adds commands by name and description. The one that is called gets its arguments, options and action from its file. */
function addCommands(
  parent: Command,
  entries: readonly (CallableCommand | CommandGroup)[],
  context: CliContext,
): void {
  const loaders = new Map<string, CallableCommand['load']>();
  for (const entry of entries) {
    const command = parent.command(entry.name).description(entry.description);
    if ('commands' in entry) addCommands(command, entry.commands, context);
    else loaders.set(entry.name, entry.load);
  }
  parent.hook('preSubcommand', async (_parent, command) => {
    const define = await loaders.get(command.name())?.();
    define?.(command, context);
  });
  // Commander's own help command would print a command that is not loaded.
  parent
    .helpCommand(false)
    .command('help')
    .description('Prints the help of a command.')
    .argument('[command...]')
    .action(async (words: readonly string[]) => {
      const [word] = words;
      if (word !== undefined && parent.commands.every((command) => command.name() !== word)) {
        parent.error(`error: unknown command '${word}'`);
      }
      await parent.parseAsync([...words, '--help'], { from: 'user' });
    });
}

function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? args.length : end).includes('--json');
}
