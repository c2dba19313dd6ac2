import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { bytesToHex, checksumAddress, type Hex } from '../../src/lib/hex.ts';
import { keccak256 } from '../../src/lib/keccak.ts';
import { type Match } from '../../src/repository/matches/verified-contract.ts';
import { compileExamples, type ExampleTemplate } from './example-contracts.ts';

/** A contract to write; omitted fields are derived from its index in the list, the same in every run. */
export interface ExampleContract {
  readonly chainId: number;
  readonly match: Match;
  readonly address?: Hex;
  /** Name of a template of {@link compileExamples}. */
  readonly template?: string;
}

export interface ExampleTreeOptions {
  readonly layout: 'v1' | 'v2';
  readonly contracts: readonly ExampleContract[];
  /** Layout V1 only: whether to write path-translation.json. Default true. */
  readonly pathTranslation?: boolean;
  /**
   * Gives each contract its own trailing comment in the target source and the resulting metadata, so that all
   * compilations differ. Default true.
   */
  readonly distinct?: boolean;
}

/** A written contract. */
interface WrittenContract {
  readonly chainId: number;
  readonly match: Match;
  /** Lower case. */
  readonly address: Hex;
  readonly template: ExampleTemplate;
  readonly folder: string;
}

const hashText = (text: string): Hex => bytesToHex(keccak256(Buffer.from(text, 'utf8')));

/** An address derived from a number, the same in every run. */
export function exampleAddress(number: number): Hex {
  return `0x${hashText(`example ${number}`).slice(-40)}`;
}

/**
 * Returns `count` contracts on chains of different sizes, a quarter of them partial, for crash tests and
 * benchmarks.
 */
export function manyContracts(count: number): ExampleContract[] {
  const chains = [1, 1, 1, 1, 10, 137, 137, 8453, 11155111, 5_000_000_000];
  return Array.from({ length: count }, (_, index) => ({
    chainId: chains[index % chains.length] ?? 1,
    address: exampleAddress(index),
    match: index % 4 === 3 ? ('partial' as const) : ('full' as const),
  }));
}

/** The folder of a contract in the tree below `folder`. */
export function contractFolder(
  folder: string,
  { match, chainId, address }: { match: Match; chainId: number | string; address: string },
): string {
  return join(folder, 'contracts', `${match}_match`, String(chainId), address);
}

/** Layout V1's spelling of a source name as a path below `sources`: without `..`, and with `_` for `@` and `:`. */
export function storedPath(sourceName: string): string {
  return sourceName
    .split('/')
    .filter((segment) => !['', '.', '..'].includes(segment))
    .join('/')
    .replace(/[@:]/g, '_');
}

/** Writes a repository tree: `folder/contracts/{full_match|partial_match}/{chainId}/{EIP-55 address}/…`. */
export async function writeExampleTree(
  folder: string,
  options: ExampleTreeOptions,
): Promise<WrittenContract[]> {
  const templates = await compileExamples();
  const written: WrittenContract[] = [];
  for (const [index, contract] of options.contracts.entries()) {
    const template =
      templates.find(({ name }) => name === contract.template) ??
      templates[index % templates.length];
    if (template === undefined) throw new Error('there is no example template');
    const address = contract.address ?? exampleAddress(index);
    const { chainId, match } = contract;
    const path = contractFolder(folder, { match, chainId, address: checksumAddress(address) });
    const own =
      options.distinct === false ? template : distinguish(template, `${chainId} ${address}`);
    await writeContract(path, own, options);
    written.push({ chainId, match, address, template: own, folder: path });
  }
  return written;
}

/** The template as solc compiles it with one more comment at the end of the target source. */
function distinguish(template: ExampleTemplate, mark: string): ExampleTemplate {
  const { targetPath, sources, metadata } = template;
  const before = sources[targetPath] ?? '';
  const after = `${before}// ${mark}\n`;
  return {
    ...template,
    sources: { ...sources, [targetPath]: after },
    metadata: metadata.replace(hashText(before), hashText(after)),
  };
}

/** Writes one contract's folder. */
export async function writeContract(
  path: string,
  { metadata, sources, facts }: ExampleTemplate,
  { layout, pathTranslation = true }: Pick<ExampleTreeOptions, 'layout' | 'pathTranslation'>,
): Promise<void> {
  const translation: Record<string, string> = {};
  const files = new Map<string, string>([['metadata.json', metadata], ...Object.entries(facts)]);
  files.set('creator-tx-hash.txt', hashText(basename(path)));
  for (const [name, content] of Object.entries(sources)) {
    const stored = layout === 'v2' ? hashText(content) : storedPath(name);
    if (stored !== name) translation[name] = stored;
    files.set(`sources/${stored}`, content);
  }
  if (layout === 'v1' && pathTranslation && Object.keys(translation).length > 0) {
    files.set('path-translation.json', JSON.stringify(translation));
  }
  for (const folder of new Set([...files.keys()].map((file) => dirname(join(path, file))))) {
    await mkdir(folder, { recursive: true });
  }
  await Promise.all([...files].map(([file, content]) => writeFile(join(path, file), content)));
}
