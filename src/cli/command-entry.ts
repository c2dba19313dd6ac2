import { type Command } from 'commander';
import { type CliContext } from './cli-context.ts';

/** Adds the arguments, options and action of a command. */
export type DefineCommand = (command: Command, context: CliContext) => unknown;

/** A command, which is loaded when it is called. */
export interface CallableCommand {
  readonly name: string;
  readonly description: string;
  /** Command lines that its help shows, without the name of the program. */
  readonly examples: readonly string[];
  readonly load: () => Promise<DefineCommand>;
}

/** Commands below one word. */
export interface CommandGroup {
  readonly name: string;
  readonly description: string;
  readonly commands: readonly CallableCommand[];
}
