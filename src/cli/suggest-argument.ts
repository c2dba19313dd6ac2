import { type Command, type CommanderError } from 'commander';
import { closestName } from '../config/suggestion.ts';

/** Returns the command that the arguments name, as far as they name one. */
export function findCommand(program: Command, args: readonly string[]): Command {
  let called = program;
  for (const word of args) {
    const next = called.commands.find((command) => command.name() === word);
    if (next === undefined) break;
    called = next;
  }
  return called;
}

/** Returns whether a group was called without a subcommand. Commander prints the group's help on standard error. */
const isCommandMissing = (error: CommanderError): boolean => error.code === 'commander.help';

/**
 * Describes what is wrong with the arguments and what was probably meant: `unknown option '--port' (Did you
 * mean --api-port?)`, `fullmatch jobs needs a command: list, show or cancel`.
 */
export function describeArgumentError(error: CommanderError, called: Command): string {
  if (isCommandMissing(error))
    return `${pathOf(called)} needs a command: ${orList(namesOf(called).filter((name) => name !== 'help'))}.`;
  return [error.message.replace(/^error: /, ''), suggestFor(error, called)]
    .filter(Boolean)
    .join(' ');
}

function suggestFor(error: CommanderError, called: Command): string | undefined {
  const option = /unknown option '(--[^'=]+)/.exec(error.message)?.[1];
  const command = /unknown command '([^']+)'/.exec(error.message)?.[1];
  const meant =
    option === undefined
      ? command && likeliest(command, namesOf(called))
      : likeliest(option, flagsOf(called));
  return meant === undefined ? undefined : `(Did you mean ${meant}?)`;
}

/** Prefers a name that contains the word over one with similar spelling: `--port` is part of `--api-port`. */
function likeliest(unknown: string, known: readonly string[]): string | undefined {
  const word = unknown.replace(/^--/, '');
  return known.find((name) => name.split('-').includes(word)) ?? closestName(unknown, known);
}

const namesOf = ({ commands }: Command): readonly string[] => commands.map((each) => each.name());

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

const orList = (names: readonly string[]): string =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(names);

const flagsOf = ({ options }: Command): readonly string[] =>
  options.flatMap(({ long }) => (typeof long === 'string' ? [long] : []));
