import { type Command } from 'commander';
import {
  type AccessToken,
  createAccessToken,
  listAccessTokens,
  revokeAccessToken,
} from '../core/access-tokens.ts';
import { writeJson, writeLine, writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { addListOutputOptions, writeListJson } from './list-output.ts';
import { readCount } from './read-argument.ts';
import { renderTable } from './table.ts';
import { withDatabase } from './with-core.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 36_500;
const MAX_PER_HOUR = 1_000_000;

/** `fullmatch tokens create`: prints the token, which is shown only once. */
export function defineTokensCreate(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<name>', 'Who has it: letters, digits, dots, hyphens and underscores.')
    .option('--days <count>', 'How long it is valid; default: until it is revoked.', (text) =>
      readCount(text, MAX_DAYS),
    )
    .option(
      '--per-hour <count>',
      'Verification requests per hour; default: access.verificationsPerHour.',
      (text) => readCount(text, MAX_PER_HOUR),
    )
    .option('--json', 'Print JSON.')
    .action(async (name: string, options: ParsedOptions) => {
      const { days, perHour } = options as Record<string, number | undefined>;
      const limits = {
        ...(perHour !== undefined && { perHour }),
        ...(days !== undefined && { expiresAt: new Date(Date.now() + days * DAY_MS) }),
      };
      const made = await withDatabase(
        options,
        context,
        'tokens',
        (database) => createAccessToken(database, name, limits),
        { mayCreate: true },
      );
      if (options['json']) {
        writeJson(context.stdout, { ...describe(made), token: made.token });
        return;
      }
      writeLine(context.stdout, made.token);
      writeLine(context.stderr, 'This token is shown only once. Running services accept it now.');
    });
}

/** `fullmatch tokens list`: prints names and limits; the tokens themselves are not stored. */
export function defineTokensList(command: Command, context: CliContext): void {
  addListOutputOptions(addConfigOptions(command)).action(async (options: ParsedOptions) => {
    const tokens = await withDatabase(options, context, 'tokens', listAccessTokens);
    if (writeListJson(context.stdout, options, tokens.map(describe))) return;
    if (tokens.length === 0) writeLine(context.stdout, 'there are no tokens');
    else context.stdout.write(renderTable(HEADS, tokens.map(rowOf)));
  });
}

/** `fullmatch tokens revoke`: running services refuse the token within two seconds. */
export function defineTokensRevoke(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<name>', 'The name of the token.')
    .option('--json', 'Print JSON.')
    .action(async (name: string, options: ParsedOptions) => {
      await withDatabase(options, context, 'tokens', (database) =>
        revokeAccessToken(database, name),
      );
      writeResult(context, options, { revoked: name }, () => `revoked ${name}\n`);
    });
}

const HEADS = ['name', 'created', 'expires', 'per hour'];

function rowOf({ name, createdAt, expiresAt, perHour }: AccessToken): string[] {
  const isOver = expiresAt !== undefined && expiresAt.getTime() <= Date.now();
  const expires = expiresAt === undefined ? 'never' : dayOf(expiresAt);
  return [name, dayOf(createdAt), isOver ? `expired ${expires}` : expires, String(perHour ?? '-')];
}

const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

function describe({ name, createdAt, expiresAt, perHour }: AccessToken): object {
  return {
    name,
    createdAt: createdAt.toISOString(),
    ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
    ...(perHour !== undefined && { perHour }),
  };
}
