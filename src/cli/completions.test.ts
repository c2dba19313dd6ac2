import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Command, type CommanderError } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runInProcess } from '../../test/support/run-cli.ts';
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts';
import { type CliContext } from './cli-context.ts';
import { type CallableCommand, type CommandGroup } from './command-entry.ts';
import { COMMANDS } from './commands.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** Each prints the completions of its arguments; the first argument is the script, and the last word is incomplete. */
const PROGRAMS: Readonly<Record<Shell, string>> = {
  bash: `source "$1"; shift; COMP_WORDS=(fullmatch "$@"); COMP_CWORD=$#; _fullmatch; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // The functions with which zsh shows completions work in its editor only.
  zsh: `compdef() { }; _files() { }; compadd() { shift; print -l -- $@ }; _describe() { print -l -- \${\${(P)2}%%:*} }
source "$1"; shift; words=(fullmatch "$@"); CURRENT=$#words; _fullmatch | while read -r name; do [[ $name == $words[-1]* ]] && print -- $name; done; true`,
  fish: `source "$argv[1]"; complete -C "fullmatch $argv[2..]"`,
};

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
beforeAll(async () => {
  folder = await createTemporaryFolder();
  for (const shell of SHELLS) {
    const { exitCode, stdout } = await runInProcess(['completions', shell]);
    expect(exitCode).toBe(0);
    await writeFile(path.join(folder.path, shell), stdout);
  }
});
afterAll(() => folder.remove());

const hasShell = (name: string): boolean => spawnSync(name, ['-c', 'exit 0']).status === 0;

/** Returns the shell's completions for these words; the last word is incomplete. */
function complete(shell: Shell, words: readonly string[]): readonly string[] {
  const script = path.join(folder.path, shell);
  const args = [...(shell === 'fish' ? [] : [shell]), script, ...words];
  const flags = shell === 'zsh' ? ['-f', '-c'] : ['-c'];
  const { status, stdout, stderr } = spawnSync(shell, [...flags, PROGRAMS[shell], ...args], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.split('\n').flatMap((line) => line.split('\t')[0] || []);
}

describe.each(SHELLS)('Completions of %s', (shell) => {
  test.skipIf(!hasShell(shell)).each([
    [['ch'], ['chains']],
    [['chains', 'sy'], ['sync']],
    [['chains', 'list', '--supp'], ['--supported']],
    [['verify', '1', '0x00', 'input.json', '--opt'], ['--optimizer-runs']],
    [['jobs', 'list', '--state', 'failed', '--nd'], ['--ndjson']],
    [['export', '--format', 'pa'], ['parquet']],
    [['completions', 'z'], ['zsh']],
  ])('after %j suggest %j', (words, proposed) => {
    expect(complete(shell, words)).toEqual(proposed);
  });

  test.skipIf(!hasShell(shell))('suggest exactly the commands at the start', () => {
    const commands = complete(shell, ['']).filter((word) => !word.startsWith('-'));
    expect(commands.sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
  });
});

test('prints a script for every supported shell and rejects others', async () => {
  for (const shell of SHELLS)
    expect(await runInProcess(['completions', shell])).toMatchObject({ exitCode: 0 });
  // By this line zsh finds it in a folder of `fpath`.
  const { stdout } = await runInProcess(['completions', 'zsh']);
  expect(stdout).toMatch(/^#compdef fullmatch\n/);
  expect(await runInProcess(['completions', 'cmd'])).toMatchObject({ exitCode: 1, stdout: '' });
});

const callable = (entries: readonly (CallableCommand | CommandGroup)[]): CallableCommand[] =>
  entries.flatMap((entry) => ('commands' in entry ? callable(entry.commands) : [entry]));

describe('Command help', () => {
  test.each(callable(COMMANDS).map((entry) => [entry.examples[0], entry] as const))(
    'has valid examples: %s',
    async (_first, { name, examples, load }) => {
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) {
        const command = new Command(name).exitOverride();
        (await load())(command, {} as CliContext);
        let parsed = false;
        command.action(() => {
          parsed = true;
        });
        const [, words = ''] = example
          .replace(/ >.*/, '')
          .split(new RegExp(`^.*?\\b${name}(?= |$)`));
        const args = [...words.matchAll(/"([^"]*)"|\S+/g)].map(([word, inner]) => inner ?? word);
        command.configureOutput({ outputError: () => undefined });
        await command.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
          throw new Error(`${example}: ${(error as CommanderError).message}`);
        });
        expect(parsed).toBe(true);
      }
    },
  );
});
