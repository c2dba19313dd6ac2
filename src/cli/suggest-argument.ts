import { type Command, type CommanderError } from 'commander';
import { nearest } from '../config/suggestion.ts';

/** The command that arguments name, as far as they name one. */
export function calledCommand(program: Command, args: readonly string[]): Command {
  let called = program;
  for (const word of args) {
    const next = called.commands.find((command) => command.name() === word);
    if (next === undefined) break;
    called = next;
  }
  return called;
}

/** What was probably meant by an option or a command that is not known: `(Did you mean --api-port?)`. */
export function suggestFor(error: CommanderError, called: Command): string | undefined {
  const option = /unknown option '(--[^'=]+)/.exec(error.message)?.[1];
  const command = /unknown command '([^']+)'/.exec(error.message)?.[1];
  const meant =
    option === undefined
      ? command && likeliest(command, namesOf(called))
      : likeliest(option, flagsOf(called));
  return meant === undefined ? undefined : `(Did you mean ${meant}?)`;
}

/** One that has the word in it goes before one that is spelled nearly like it: `--port` is a part of `--api-port`. */
function likeliest(unknown: string, known: readonly string[]): string | undefined {
  const word = unknown.replace(/^--/, '');
  return known.find((name) => name.split('-').includes(word)) ?? nearest(unknown, known);
}

const namesOf = ({ commands }: Command): readonly string[] => commands.map((each) => each.name());

const flagsOf = ({ options }: Command): readonly string[] =>
  options.flatMap(({ long }) => (typeof long === 'string' ? [long] : []));
