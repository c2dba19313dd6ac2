import { Argument, Command } from 'commander';
import { type CliContext } from './cli-context.ts';
import { type CallableCommand, type CommandGroup, type DefineCommand } from './command-entry.ts';

const WRITERS = { bash: writeBash, zsh: writeZsh, fish: writeFish } as const;

/** `fullmatch completions`: prints a shell script that contains every command and option and never runs the program. */
export function completionsOf(
  commands: readonly (CallableCommand | CommandGroup)[],
): DefineCommand {
  return (command, context) =>
    command
      .addArgument(new Argument('<shell>', 'The shell.').choices(Object.keys(WRITERS)))
      .action(async (shell: keyof typeof WRITERS) => {
        const top = { path: [], words: [...commands.map(wordOf), VERSION, HELP] };
        context.stdout.write(WRITERS[shell]([top, ...(await describe(commands, context))]));
      });
}

/** A word that may follow at a position in a command line. */
interface Word {
  readonly name: string;
  readonly description: string;
  /** Values of an option that takes one; if empty, a file name follows. */
  readonly values?: readonly string[];
}

/** A command or a group: the words before it, and the words that may follow. */
interface Node {
  readonly path: readonly string[];
  readonly words: readonly Word[];
}

const VERSION: Word = { name: '--version', description: 'Print the version.' };
const HELP: Word = { name: '--help', description: 'Print this help.' };

async function describe(
  entries: readonly (CallableCommand | CommandGroup)[],
  context: CliContext,
  before: readonly string[] = [],
): Promise<Node[]> {
  const nodes: Node[] = [];
  for (const entry of entries) {
    const path = [...before, entry.name];
    if ('commands' in entry) {
      nodes.push({ path, words: [...entry.commands.map(wordOf), HELP] });
      nodes.push(...(await describe(entry.commands, context, path)));
    } else nodes.push({ path, words: await wordsOf(entry, context) });
  }
  return nodes;
}

async function wordsOf(entry: CallableCommand, context: CliContext): Promise<Word[]> {
  const command = new Command(entry.name);
  (await entry.load())(command, context);
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const options = command.options.map(({ long, short, description, argChoices, ...option }) => ({
    name: long ?? short ?? '',
    description,
    ...((option.required || option.optional) && { values: argChoices ?? [] }),
  }));
  return [...choices.map((name) => ({ name, description: '' })), ...options, HELP];
}

const wordOf = ({ name, description }: CallableCommand | CommandGroup): Word => ({
  name,
  description,
});

/** Lists every command and group below the program as patterns of `case`. */
const placesOf = (nodes: readonly Node[]): string =>
  nodes.flatMap(({ path }) => (path.length === 0 ? [] : [quoted(placeOf(path))])).join('|');

/** Joins the words of a path with a space before each, as the scripts do. */
const placeOf = (path: readonly string[]): string => path.map((word) => ` ${word}`).join('');

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Lists the options that take a value, each after its command. */
const valuedOf = (nodes: readonly Node[]): { place: string; values: readonly string[] }[] =>
  nodes.flatMap(({ path, words }) =>
    words.flatMap(({ name, values }) =>
      values === undefined ? [] : [{ place: `${placeOf(path)} ${name}`, values }],
    ),
  );

/** Without a match, bash falls back to file names (`-o default`). */
function writeBash(nodes: readonly Node[]): string {
  const namesOf = (words: readonly Word[]): string =>
    quoted(words.map(({ name }) => name).join(' '));
  return `# bash completion for fullmatch
_fullmatch() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" place='' names='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$place \${COMP_WORDS[i]}" in
      ${placesOf(nodes)}) place="$place \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$place $before" in
${valuedOf(nodes)
  .map(({ place, values }) => `    ${quoted(place)}) names=${quoted(values.join(' '))} ;;`)
  .join('\n')}
    *) case "$place" in
${nodes.map(({ path, words }) => `      ${quoted(placeOf(path))}) names=${namesOf(words)} ;;`).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$names" -- "$word"))
}
complete -o default -F _fullmatch fullmatch
`;
}

/** Works as `_fullmatch` in a folder of `fpath`, and with `source`. */
function writeZsh(nodes: readonly Node[]): string {
  const shown = (words: readonly Word[]): string =>
    words.map(({ name, description }) => quoted(`${name}:${description}`)).join(' ');
  return `#compdef fullmatch
_fullmatch() {
  local place='' i
  local -a names
  for ((i = 2; i < CURRENT; i++)); do
    case "$place $words[i]" in
      (${placesOf(nodes)}) place="$place $words[i]" ;;
    esac
  done
  case "$place $words[CURRENT-1]" in
${valuedOf(nodes)
  .map(({ place, values }) =>
    values.length === 0
      ? `    (${quoted(place)}) _files; return ;;`
      : `    (${quoted(place)}) compadd -- ${values.map(quoted).join(' ')}; return ;;`,
  )
  .join('\n')}
  esac
  case "$place" in
${nodes.map(({ path, words }) => `    (${quoted(placeOf(path))}) names=(${shown(words)}) ;;`).join('\n')}
  esac
  _describe fullmatch names || _files
}
if [[ $funcstack[1] == _fullmatch ]]; then _fullmatch "$@"; else compdef _fullmatch fullmatch; fi
`;
}

function writeFish(nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({ path, words }) => {
    const at = `complete -c fullmatch -n ${quoted(`__fullmatch_at "${placeOf(path)}"`)}`;
    const isCommand = words.every(({ name }) => name.startsWith('-'));
    return [
      ...(isCommand ? [`${at} -F`] : []),
      ...words.map(({ name, description, values }) =>
        [
          at,
          name.startsWith('--') ? `-l ${name.slice(2)}` : `-a ${name}`,
          ...(values === undefined
            ? []
            : [values.length === 0 ? '-r -F' : `-x -a ${quoted(values.join(' '))}`]),
          ...(description === '' ? [] : [`-d ${quoted(description)}`]),
        ].join(' '),
      ),
    ];
  });
  return `# fish completion for fullmatch
function __fullmatch_at
  set -l place ''
  for word in (commandline -opc)[2..]
    switch "$place $word"
      case ${placesOf(nodes).replaceAll('|', ' ')}
        set place "$place $word"
    end
  end
  test "$place" = "$argv[1]"
end
complete -c fullmatch -f
${lines.join('\n')}
`;
}
