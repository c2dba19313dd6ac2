import { type TestInput } from './developer.ts';

/** A file on a developer's disk. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** A compilation by a build tool: compiler input and output. */
export interface ToolsCompilation {
  readonly longVersion: string;
  readonly input: TestInput;
  readonly output: {
    readonly contracts: Readonly<
      Record<string, Readonly<Record<string, { readonly metadata: string } & object>>>
    >;
  };
}

const file = (path: string, value: object): TextFile => ({ path, text: JSON.stringify(value) });

/** `artifacts/build-info` of Hardhat 2: input and output in one file. */
export function hardhat2BuildInfo({ longVersion, input, output }: ToolsCompilation): TextFile {
  const id = 'ed55fd4df792f4fc7fcf1903d795515a';
  return file(`${id}.json`, {
    id,
    _format: 'hh-sol-build-info-1',
    solcVersion: longVersion.split('+')[0],
    solcLongVersion: longVersion,
    input,
    output,
  });
}

/** `artifacts/build-info` of Hardhat 3: an input and an output per separately compiled source. */
export function hardhat3BuildInfos(
  { longVersion, input, output }: ToolsCompilation,
  root: string,
): TextFile[] {
  const id = `solc-${longVersion.split('+')[0]?.replaceAll('.', '_') ?? ''}-${Buffer.from(root).toString('hex')}`;
  const info = {
    _format: 'hh3-sol-build-info-1',
    id,
    solcVersion: longVersion.split('+')[0],
    solcLongVersion: longVersion,
    userSourceNameMap: { [root.replace(/^project\//, '')]: root },
    input,
  };
  return [
    file(`${id}.json`, info),
    file(`${id}.output.json`, { _format: 'hh3-sol-build-info-output-1', id, output }),
  ];
}

/** `out/<file>/<Name>.json` of Foundry, with the sources. */
export function foundryProject(
  { input, output }: ToolsCompilation,
  path: string,
  name: string,
): TextFile[] {
  const contract = output.contracts[path]?.[name];
  if (contract === undefined) throw new Error(`there is no ${path}:${name}`);
  const { metadata: rawMetadata, ...rest } = contract;
  const metadata: unknown = JSON.parse(rawMetadata);
  return [
    file(`out/${name}.sol/${name}.json`, { ...rest, rawMetadata, metadata, id: 0 }),
    ...Object.entries(input.sources).map(([source, { content }]) => ({
      path: source,
      text: content,
    })),
  ];
}
