import { type Command } from 'commander';
import { type Config } from '../config/config.ts';
import { FullmatchError } from '../errors.ts';
import { printableText } from '../lib/printable-text.ts';
import { requestReload, type ReloadResponse } from '../core/reload-requests.ts';
import { hasRunningServer } from '../store/embedded/embedded-server.ts';
import { writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { withCore } from './with-core.ts';

/** A reload reads a few files and builds one document, but may be slow on a busy machine. */
const ANSWER_TIMEOUT_MS = 60_000;

/**
 * `fullmatch reload`: makes every service of the database reload its configuration, as SIGHUP does for one,
 * and prints the outcome. Exits 1 if one of them refused.
 */
export function defineReload(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .option('--json', 'Print JSON.')
    .action(async (options: ParsedOptions) => {
      const { answers, expected } = await withCore(options, context, 'reload', async (core) => {
        const { config } = core.loaded;
        if (config.database.url === undefined && !(await hasRunningServer(config.dataDir))) {
          throw notRunning(config);
        }
        const { database } = await core.store();
        const waiting = { timeoutMs: ANSWER_TIMEOUT_MS, signal: context.signal };
        const found = await requestReload(database, waiting);
        if (found.answers.length === 0 && found.expected === 0) throw notRunning(config);
        return found;
      });
      const silent = Math.max(0, expected - answers.length);
      const text = answers.map(answerText).join('');
      writeResult(context, options, { services: answers, silent }, () => text);
      refuse(answers, silent);
    });
}

function notRunning({ database, dataDir }: Config): FullmatchError {
  const where = database.url === undefined ? `with the data directory ${dataDir}` : 'here';
  return new FullmatchError(
    'service_not_running',
    `No service runs ${where}; start one, or name its configuration with --config.`,
  );
}

function refuse(answers: readonly ReloadResponse[], silent: number): void {
  const refused = answers.filter(({ taken }) => !taken);
  if (refused.length > 0) {
    throw new FullmatchError(
      'configuration_refused',
      `${refused.length} of ${answers.length} services keep the configuration they had; correct it and run fullmatch reload again.`,
    );
  }
  if (silent === 0) return;
  throw new FullmatchError(
    'request_timeout',
    `${silent} services did not respond; check their health and log.`,
  );
}

function answerText({ service, taken, changed, restart, code, reason }: ReloadResponse): string {
  const lines = taken
    ? [`${service}: reloaded; changed: ${changed.length === 0 ? 'nothing' : changed.join(', ')}`]
    : [`${service}: rejected: ${code ?? 'internal_error'}`, ...(reason ?? '').split('\n')];
  if (restart.length > 0) lines.push(`waits for a restart: ${restart.join(', ')}`);
  return lines.map((line, at) => `${at === 0 ? '' : '  '}${printableText(line, 2000)}\n`).join('');
}
