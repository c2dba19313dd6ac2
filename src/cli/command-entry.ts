import { type Command } from 'commander';
import { type CliContext } from './cli-context.ts';

/** Function that adds the arguments, options and action of a command. */
export type DefineCommand = (command: Command, context: CliContext) => unknown;

/** A command, which is loaded when it is called. */
export interface CallableCommand {
  readonly name: string;
  readonly description: string;
  /** Example command lines for its help, without the program name. */
  readonly examples: readonly string[];
  readonly load: () => Promise<DefineCommand>;
}

/** A group of subcommands. */
export interface CommandGroup {
  readonly name: string;
  readonly description: string;
  readonly commands: readonly CallableCommand[];
}
