import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runSoljson } from './run-soljson.ts';

/** A compiled contract as in a repository tree, without chain and address. */
export interface ExampleTemplate {
  readonly name: string;
  readonly targetPath: string;
  /** metadata.json, byte for byte as written by solc. */
  readonly metadata: string;
  /** Source name → content. */
  readonly sources: Readonly<Record<string, string>>;
  /** The auxiliary files next to metadata.json, by file name. */
  readonly facts: Readonly<Record<string, string>>;
}

const SUPPORT = dirname(fileURLToPath(import.meta.url));
const PROJECT = dirname(dirname(SUPPORT));
const CACHE = join(PROJECT, 'node_modules', '.cache', 'fullmatch-examples');
const require = createRequire(import.meta.url);

// Source name in the compiler input → our file. The names are typical of real trees: plain, with `@` and `:`,
// with a space and non-ASCII letters, with `..`, and absolute.
const OWN_SOURCES: Readonly<Record<string, string>> = {
  'contracts/Greeter.sol': 'Greeter.sol',
  'contracts/Ledger.sol': 'Ledger.sol',
  'contracts/Sums.sol': 'Sums.sol',
  'contracts/Token.sol': 'Token.sol',
  'contracts/Badge.sol': 'Badge.sol',
  'project:/src/Grüße an alle.sol': 'Greeter.sol',
  '../../elsewhere/Greeter.sol': 'Greeter.sol',
  '/home/someone/Greeter.sol': 'Greeter.sol',
};

const TEMPLATES: readonly { readonly name: string; readonly target: string }[] = [
  { name: 'Greeter', target: 'contracts/Greeter.sol:Greeter' },
  { name: 'Ledger', target: 'contracts/Ledger.sol:Ledger' },
  { name: 'Token', target: 'contracts/Token.sol:Token' },
  { name: 'Badge', target: 'contracts/Badge.sol:Badge' },
  { name: 'OddName', target: 'project:/src/Grüße an alle.sol:Greeter' },
  { name: 'ClimbingName', target: '../../elsewhere/Greeter.sol:Greeter' },
  { name: 'AbsoluteName', target: '/home/someone/Greeter.sol:Greeter' },
];

interface CompiledContract {
  readonly metadata: string;
  readonly evm: {
    readonly deployedBytecode: {
      readonly object: string;
      readonly immutableReferences: Readonly<Record<string, object>>;
    };
  };
}
interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Readonly<Record<string, Readonly<Record<string, CompiledContract>>>>;
}

let compiled: Promise<readonly ExampleTemplate[]> | undefined;

/**
 * Compiles our contracts and some of OpenZeppelin with solc, once: the results are cached under
 * node_modules/.cache.
 */
export function compileExamples(): Promise<readonly ExampleTemplate[]> {
  return (compiled ??= compileAll());
}

async function compileAll(): Promise<readonly ExampleTemplate[]> {
  const sources = await collectSources();
  const targets = TEMPLATES.map(({ name, target }) => {
    const colon = target.lastIndexOf(':');
    return { name, path: target.slice(0, colon), contract: target.slice(colon + 1) };
  });
  // Each target is compiled with its imports only, as in a project's metadata.
  const outputs = await compile(targets.map(({ path }) => reachableFrom(path, sources)));
  return targets.map(({ name, path, contract }, index) =>
    toTemplate(name, path, outputs[index]?.contracts[path]?.[contract], sources),
  );
}

function toTemplate(
  name: string,
  targetPath: string,
  contract: CompiledContract | undefined,
  sources: ReadonlyMap<string, string>,
): ExampleTemplate {
  if (contract === undefined) throw new Error(`solc gave no contract for ${targetPath}`);
  const listed = Object.keys(
    (JSON.parse(contract.metadata) as { sources: Record<string, unknown> }).sources,
  );
  const { object, immutableReferences } = contract.evm.deployedBytecode;
  const placeholders = [...new Set(object.match(/__\$[0-9a-f]{34}\$__/g) ?? [])];
  return {
    name,
    targetPath,
    metadata: contract.metadata,
    sources: Object.fromEntries(listed.map((path) => [path, sources.get(path) ?? ''])),
    facts: {
      ...(Object.keys(immutableReferences).length > 0 && {
        'immutable-references.json': JSON.stringify(immutableReferences),
        'constructor-args.txt': GREETING,
      }),
      ...(placeholders.length > 0 && {
        'library-map.json': JSON.stringify(
          Object.fromEntries(placeholders.map((key) => [key, 'ab'.repeat(20)])),
        ),
      }),
    },
  };
}

const word = (digits: string): string => digits.padStart(64, '0');
/** `"hello"` as the ABI encoding of Greeter's constructor argument. */
const GREETING = `0x${word('20')}${word('5')}${Buffer.from('hello').toString('hex').padEnd(64, '0')}`;

const IMPORT = /^import\s+(?:[^"']*from\s+)?["']([^"']+)["'];/gm;

function importsOf(path: string, content: string): string[] {
  return [...content.matchAll(IMPORT)].map(([, name = '']) =>
    name.startsWith('.') ? posix.join(posix.dirname(path), name) : name,
  );
}

async function collectSources(): Promise<Map<string, string>> {
  const sources = new Map<string, string>();
  for (const [path, file] of Object.entries(OWN_SOURCES)) {
    sources.set(path, await readFile(join(SUPPORT, 'example-contracts', file), 'utf8'));
  }
  const pending = [...sources].flatMap(([path, content]) => importsOf(path, content));
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (sources.has(path)) continue;
    const content = await readFile(require.resolve(path), 'utf8');
    sources.set(path, content);
    pending.push(...importsOf(path, content));
  }
  return sources;
}

function reachableFrom(path: string, sources: ReadonlyMap<string, string>): Record<string, string> {
  const reached = new Map<string, string>();
  const pending = [path];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (reached.has(next)) continue;
    const content = sources.get(next) ?? '';
    reached.set(next, content);
    pending.push(...importsOf(next, content));
  }
  return Object.fromEntries(reached);
}

/** Compiles each set of sources separately, all in one child process. */
async function compile(
  sets: readonly Readonly<Record<string, string>>[],
): Promise<readonly CompilerOutput[]> {
  const inputs = sets.map(toCompilerInput);
  const { version } = require('solc/package.json') as { version: string };
  const key = createHash('sha256').update(version).update(JSON.stringify(inputs)).digest('hex');
  const file = join(CACHE, `${key}.json`);
  const cached = await readFile(file, 'utf8').catch(() => undefined);
  const outputs = (
    cached === undefined ? await runSoljson('solc', inputs) : JSON.parse(cached)
  ) as readonly CompilerOutput[];
  const failures = outputs
    .flatMap(({ errors = [] }) => errors)
    .filter(({ severity }) => severity === 'error');
  if (failures.length > 0) {
    throw new Error(failures.map(({ formattedMessage }) => formattedMessage).join('\n'));
  }
  if (cached === undefined) {
    await mkdir(CACHE, { recursive: true });
    // Renamed into place: test files that compile concurrently never see a partial file.
    const unfinished = `${file}.${process.pid}`;
    await writeFile(unfinished, JSON.stringify(outputs));
    await rename(unfinished, file);
  }
  return outputs;
}

function toCompilerInput(sources: Readonly<Record<string, string>>): object {
  const selected = [
    'metadata',
    'evm.deployedBytecode.object',
    'evm.deployedBytecode.immutableReferences',
  ];
  return {
    language: 'Solidity',
    sources: Object.fromEntries(
      Object.entries(sources).map(([path, content]) => [path, { content }]),
    ),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': selected } },
    },
  };
}
