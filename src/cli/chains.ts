import { type Command } from 'commander';
import { findChain } from '../chains/registry/chain-reference.ts';
import {
  type ChainRegistry,
  type Finding,
  type RegisteredChain,
} from '../chains/registry/registry.ts';
import { assertNoSecrets } from '../chains/registry/render-chains.ts';
import { FullmatchError } from '../errors.ts';
import { copyableText } from '../lib/printable-text.ts';
import { writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { addListOutputOptions, writeListJson } from './list-output.ts';
import { renderTable } from './table.ts';
import { withCore } from './with-core.ts';

/**
 * `fullmatch chains check`: exits 1 if there are errors. Like `list` and `show` it reads the registry from
 * the configuration, without a database: chains known only from stored contracts and the result of a sync are
 * not included.
 */
export function defineChainsCheck(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .option('--json', 'Print JSON.')
    .action(async (options: ParsedOptions) => {
      const registry = await readRegistry(options, context);
      const errors = registry.findings.filter(({ level }) => level === 'error');
      writeResult(context, options, checkedJson(registry), () => checkedText(registry));
      if (errors.length === 0) return;
      throw new FullmatchError(
        'invalid_configuration',
        `${errors.length} errors in the chain registry; fix the entries listed above`,
      );
    });
}

/** `fullmatch chains list`: prints a table or the records as JSON. */
export function defineChainsList(command: Command, context: CliContext): void {
  addListOutputOptions(
    addConfigOptions(command),
    'Print the chain records as GET /chains publishes them.',
  )
    .option('--supported', 'Only chains that support verification.')
    .action(async (options: ParsedOptions) => {
      const registry = await readRegistry(options, context);
      const shown = registry.chains.filter(
        ({ record }) => !options['supported'] || record.supported,
      );
      const records = shown.map(({ record }) => record);
      if (writeListJson(context.stdout, options, records)) return;
      context.stdout.write(listText(shown));
    });
}

/** `fullmatch chains show`: prints a chain with the origin of every field. */
export function defineChainsShow(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<chain>', 'Chain id, CAIP-2 id, short name or name: 1, 0x1, eip155:1, eth.')
    .option('--json', 'Print JSON.')
    .action(async (ref: string, options: ParsedOptions) => {
      const chain = findChain(await readRegistry(options, context), ref);
      const { record, origins } = chain;
      writeResult(context, options, { record, origins }, () => showText(chain));
    });
}

/** Reads the registry; fails, as `start` does, if it would publish a secret. */
function readRegistry(options: ParsedOptions, context: CliContext): Promise<ChainRegistry> {
  return withCore(options, context, 'chains', async (core) => {
    const { registry, inputs } = await core.registry();
    assertNoSecrets(registry, inputs.secrets);
    return registry;
  });
}

function checkedJson({ findings, chains, listSource, listSha256 }: ChainRegistry): unknown {
  return { list: { source: listSource, sha256: listSha256 }, chains: chains.length, findings };
}

function checkedText({ findings, chains, listSource }: ChainRegistry): string {
  const supported = chains.filter(({ record }) => record.supported).length;
  const counts = (['error', 'warning', 'info'] as const).map(
    (level) => `${level} ${findings.filter((finding) => finding.level === level).length}`,
  );
  return (
    `${chains.length} chains, ${supported} supported; list: ${listSource}; ${counts.join(', ')}\n` +
    (findings.length === 0
      ? ''
      : renderTable(['level', 'chain', 'code', 'field', 'message'], findings.map(findingRow)))
  );
}

function findingRow({ level, chainId, code, field, message }: Finding): string[] {
  return [level, chainId === undefined ? '-' : String(chainId), code, field ?? '-', message];
}

function listText(chains: readonly RegisteredChain[]): string {
  const rows = chains.map(({ record }) => [
    String(record.chainId),
    record.shortName ?? '-',
    record.supported ? 'yes' : 'no',
    record.monitored ? 'yes' : 'no',
    String(record.rpc.length),
    record.name,
  ]);
  return renderTable(['chain', 'short name', 'supported', 'monitored', 'rpc', 'name'], rows);
}

function showText({ record, origins, endpoints }: RegisteredChain): string {
  const rows = Object.entries(record).flatMap(([field, value]) =>
    fieldRows(field, value, origins[field] ?? '-'),
  );
  const hidden = endpoints.filter((endpoint) => !endpoint.public).length;
  const note = hidden > 0 ? `and private endpoints, which are not published: ${hidden}\n` : '';
  return renderTable(['field', 'origin', 'value'], rows, copyableText) + note;
}

/** Returns one row, or one per item of a list. */
function fieldRows(field: string, value: unknown, origin: string): string[][] {
  const show = (part: unknown) => (typeof part === 'string' ? part : JSON.stringify(part));
  if (!Array.isArray(value) || value.length === 0) return [[field, origin, show(value)]];
  return value.map((member, index) =>
    index === 0 ? [field, origin, show(member)] : ['', '', show(member)],
  );
}
