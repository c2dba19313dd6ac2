import { type Command } from 'commander';
import { type LoadedConfig } from '../config/config.ts';
import { renderExample } from '../config/example.ts';
import { SETTINGS, valueOf } from '../config/settings.ts';
import { Secret } from '../lib/secret.ts';
import { writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, loadCommandConfig, type ParsedOptions } from './config-options.ts';
import { renderTable } from './table.ts';

/** `fullmatch config check`: reports all problems of the configuration at once. */
export function defineConfigCheck(command: Command, context: CliContext): void {
  addConfigOptions(command, { listeners: true })
    .option('--json', 'Print JSON.')
    .action((options: ParsedOptions) => {
      const summary = summaryOf(loadCommandConfig(options, context));
      writeResult(context, options, summary, () => `${describeSummary(summary)}\n`);
    });
}

/** `fullmatch config print`: prints every value with its origin, without secrets. */
export function defineConfigPrint(command: Command, context: CliContext): void {
  addConfigOptions(command, { listeners: true })
    .option('--json', 'Print JSON.')
    .action((options: ParsedOptions) => {
      const loaded = loadCommandConfig(options, context);
      writeResult(context, options, printedJson(loaded), () => printedTable(loaded));
    });
}

/** `fullmatch config example`: prints a configuration file with every key and its default. */
export function defineConfigExample(command: Command, context: CliContext): void {
  command.action(() => {
    context.stdout.write(renderExample());
  });
}

interface Summary {
  readonly sound: true;
  readonly file: string | null;
  readonly chains: number;
  readonly secrets: number;
}

function summaryOf({ config, file, secrets }: LoadedConfig): Summary {
  return { sound: true, file: file ?? null, chains: config.chains.size, secrets: secrets.length };
}

function describeSummary({ file, chains }: Summary): string {
  const source = file ?? 'There is no configuration file: the configuration';
  const also =
    chains === 0
      ? ''
      : `; ${chains} configured ${chains === 1 ? 'chain' : 'chains'}, see: fullmatch chains check`;
  return `${source} is sound${also}`;
}

/** A value with its origin; `null` for a key that is not set. */
interface Printed {
  readonly value: unknown;
  readonly origin: string;
}

function printedJson(loaded: LoadedConfig): unknown {
  const pairs = printedValues(loaded);
  const isChain = ([key]: readonly [string, Printed]) => key.startsWith('chains.');
  return {
    file: loaded.file ?? null,
    settings: Object.fromEntries(pairs.filter((pair) => !isChain(pair))),
    chains: Object.fromEntries(
      pairs.filter(isChain).map(([key, printed]) => [key.slice('chains.'.length), printed]),
    ),
  };
}

function printedTable(loaded: LoadedConfig): string {
  const rows = printedValues(loaded).map(([key, { value, origin }]) => [
    key,
    origin,
    showValue(value),
  ]);
  return renderTable(['key', 'origin', 'value'], rows);
}

function printedValues(loaded: LoadedConfig): (readonly [string, Printed])[] {
  const { config, origins } = loaded;
  const settings = [...SETTINGS.keys()].map((key) => {
    const value = valueOf(config, key);
    return [key, { value: value ?? null, origin: origins.get(key) ?? 'default' }] as const;
  });
  const chains = [...config.chains.values()]
    .sort((left, right) => left.chainId - right.chainId)
    .map(({ chainId, ...fields }) => {
      const key = `chains.${chainId}`;
      return [key, { value: hideCredentials(fields), origin: origins.get(key) ?? '' }] as const;
    });
  return [...settings, ...chains];
}

/**
 * Secret values already print as ***; this hides credentials that an operator put into a public endpoint by
 * mistake.
 */
function hideCredentials(fields: unknown): unknown {
  const json = JSON.stringify(fields).replaceAll(/(:\/\/)[^/@"\\]*@/g, '$1***@');
  return JSON.parse(json) as unknown;
}

function showValue(value: unknown): string {
  if (value === null) return '-';
  if (value instanceof Secret) return String(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
