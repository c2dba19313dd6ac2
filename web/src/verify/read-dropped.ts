/** A file as the browser gave it: its path within the folder that was chosen, or its name. */
export interface DroppedFile {
  readonly path: string;
  readonly text: string;
}

type Members = Readonly<Record<string, unknown>>;

/** What a set of files holds that can be verified. */
export type Dropped =
  | {
      readonly kind: 'standard_json';
      /** In words: a standard JSON input, a build info. */
      readonly from: string;
      readonly input: Members;
      /** Where the file says it. */
      readonly compilerVersion?: string;
      /** `path:Name` of the contracts that it may be; the output of a compiler names all of them. */
      readonly contracts: readonly string[];
      readonly sources: number;
    }
  | {
      readonly kind: 'metadata';
      readonly from: string;
      readonly metadata: Members;
      readonly sources: Readonly<Record<string, string>>;
      readonly contract: string;
      readonly compilerVersion?: string;
      /** Sources that the metadata names and that are not there, by name or by content. */
      readonly missing: readonly string[];
    }
  | { readonly kind: 'unusable'; readonly reason: string };

const NOTHING: Dropped = {
  kind: 'unusable',
  reason:
    'None of these files is a standard JSON input, a build info of Hardhat, an artifact of Foundry or a metadata.json. Sources alone do not say with which settings they were compiled.',
};

/**
 * What can be verified of files that were dropped or chosen: a standard JSON input, a build info of Hardhat (with the
 * output, or with `output` in a file of its own), an artifact of Foundry or a metadata.json with its sources. The first
 * document that fits is taken; the others are sources.
 */
export function readDropped(files: readonly DroppedFile[]): Dropped {
  const documents = files.flatMap(({ path, text }) => {
    const value = parseMembers(text);
    return value === undefined ? [] : [{ path, value }];
  });
  for (const { value } of documents) {
    if (isMembers(value['input']) && isStandardJson(value['input'])) return ofBuildInfo(value);
  }
  for (const { value } of documents) {
    if (isStandardJson(value)) return ofStandardJson(value, 'A standard JSON input', undefined, []);
  }
  const artifacts = documents.flatMap(({ path, value }) => {
    const metadata = metadataOf(value);
    return metadata === undefined ? [] : [{ path, metadata, isAlone: metadata === value }];
  });
  const [artifact, another] = artifacts;
  if (another !== undefined) return severalArtifacts(artifacts.map(({ path }) => path));
  if (artifact !== undefined) return ofMetadata(artifact.metadata, artifact.isAlone, files);
  const broken = files.find(({ path, text }) => path.endsWith('.json') && isBroken(text));
  if (broken !== undefined) {
    return { kind: 'unusable', reason: `${broken.path} is no JSON: ${reasonOf(broken.text)}` };
  }
  return NOTHING;
}

const PATHS_TOLD = 5;

function severalArtifacts(paths: readonly string[]): Dropped {
  const told = paths.slice(0, PATHS_TOLD).join(', ');
  const more = paths.length > PATHS_TOLD ? ' and more' : '';
  return {
    kind: 'unusable',
    reason: `These files hold ${paths.length} artifacts (${told}${more}). Choose one of them, and the sources.`,
  };
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseMembers(text: string): Members | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isMembers(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isBroken(text: string): boolean {
  return reasonOf(text) !== '';
}

function reasonOf(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function isStandardJson(value: Members): boolean {
  return isMembers(value['sources']) && typeof value['language'] === 'string';
}

/** Hardhat 2 keeps `solcLongVersion` and the output beside the input; Hardhat 3 the output in another file. */
function ofBuildInfo(document: Members): Dropped {
  const version = [document['solcLongVersion'], document['solcVersion']].find(
    (each) => typeof each === 'string' && each !== '',
  );
  const output: unknown = document['output'];
  const contracts = isMembers(output) && isMembers(output['contracts']) ? output['contracts'] : {};
  const names = Object.entries(contracts).flatMap(([path, inFile]) =>
    isMembers(inFile) ? Object.keys(inFile).map((name) => `${path}:${name}`) : [],
  );
  return ofStandardJson(
    document['input'] as Members,
    'A build info',
    version as string | undefined,
    names,
  );
}

const DECLARATION = /^[ \t]*(?:abstract[ \t]+)?(?:contract|library)[ \t]+([A-Za-z_$][\w$]*)/gm;

function ofStandardJson(
  input: Members,
  from: string,
  compilerVersion: string | undefined,
  contracts: readonly string[],
): Dropped {
  const sources = Object.entries(input['sources'] as Members);
  if (sources.length === 0) return { kind: 'unusable', reason: 'The input has no sources.' };
  const without = sources.find(
    ([, source]) => !isMembers(source) || typeof source['content'] !== 'string',
  );
  if (without !== undefined) {
    return {
      kind: 'unusable',
      reason: `The source ${without[0]} stands in the input without its text; write the input with literal contents.`,
    };
  }
  const declared = sources.flatMap(([path, source]) =>
    Array.from(
      ((source as Members)['content'] as string).matchAll(DECLARATION),
      ([, name = '']) => `${path}:${name}`,
    ),
  );
  return {
    kind: 'standard_json',
    from,
    input,
    ...(compilerVersion !== undefined && { compilerVersion }),
    contracts: contracts.length > 0 ? contracts : declared,
    sources: sources.length,
  };
}

/** The metadata of a metadata.json itself, or of an artifact of Foundry, which has it as an object or as text. */
function metadataOf(value: Members): Members | undefined {
  const { rawMetadata, metadata } = value;
  const inside =
    typeof rawMetadata === 'string'
      ? parseMembers(rawMetadata)
      : typeof metadata === 'string'
        ? parseMembers(metadata)
        : metadata;
  return [value, inside].filter(isMembers).find((each) => {
    const settings: unknown = each['settings'];
    return isMembers(settings) && isMembers(settings['compilationTarget']);
  });
}

function ofMetadata(metadata: Members, isAlone: boolean, files: readonly DroppedFile[]): Dropped {
  const listed = isMembers(metadata['sources']) ? metadata['sources'] : {};
  const others = files.filter(({ text }) => !/^\s*\{/.test(text));
  const sources: [string, string][] = [];
  const missing: string[] = [];
  for (const [name, source] of Object.entries(listed)) {
    if (isMembers(source) && typeof source['content'] === 'string') {
      sources.push([name, source['content']]);
      continue;
    }
    const file = findFile(name, others);
    if (file === undefined) missing.push(name);
    else sources.push([name, file.text]);
  }
  // The service finds a source by its hash as well: what stands under another name is sent under its own.
  const used = new Set(sources.map(([, text]) => text));
  for (const { path, text } of others) if (!used.has(text)) sources.push([path, text]);
  const [target] = Object.entries(
    (metadata['settings'] as Members)['compilationTarget'] as Members,
  );
  const compiler: unknown = metadata['compiler'];
  const version = isMembers(compiler) ? compiler['version'] : undefined;
  return {
    kind: 'metadata',
    from: isAlone ? 'A metadata.json' : 'An artifact of Foundry',
    metadata,
    sources: Object.fromEntries(sources),
    contract: target === undefined ? '' : `${target[0]}:${String(target[1])}`,
    ...(typeof version === 'string' && { compilerVersion: version }),
    missing,
  };
}

/** The file of a source: the one whose path ends with most of the source's name. */
function findFile(name: string, files: readonly DroppedFile[]): DroppedFile | undefined {
  const parts = name.split('/');
  let best: DroppedFile | undefined;
  let most = 0;
  for (const file of files) {
    const own = file.path.split('/');
    let same = 0;
    while (same < parts.length && same < own.length && parts.at(-1 - same) === own.at(-1 - same)) {
      same += 1;
    }
    if (same > most) [best, most] = [file, same];
  }
  return best;
}
