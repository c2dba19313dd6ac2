import { type VNode } from 'preact';
import { formatCount } from '../format.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { Failure } from '../parts/notices.tsx';
import {
  type ContractData,
  type ContractFacts,
  type SourceFile,
  type SourceFiles,
} from './contract-data.ts';
import { spellHiddenCharacters } from './hidden-characters.ts';
import { buildFileTree, type TreeNode } from './file-tree.ts';
import { SourceCode } from './source-code.tsx';

const HIDDEN_LISTED = 10;

/** The sources: their tree, and the one that was chosen. Each is a page of its own, so that large contracts stay light. */
export function SourcesSection({
  facts,
  loaded,
}: {
  readonly facts: ContractFacts;
  readonly loaded: ContractData['sources'];
}): VNode {
  const { sources, shown } = facts;
  const files = new Map(sources?.files.map((file) => [file.path, file]));
  return (
    <section aria-labelledby="sources">
      <h2 id="sources">
        Sources {sources !== undefined && <span class="count">{formatCount(sources.total)}</span>}
      </h2>
      {sources === undefined ? (
        loaded.state === 'failed' && <Failure what="The sources" loaded={loaded} />
      ) : shown === undefined ? (
        <p>This service has the match, but no sources of it.</p>
      ) : (
        <div class="sources">
          <nav aria-label="Sources" class="tree">
            <Tree nodes={buildFileTree([...files.keys()])} files={files} current={shown.path} />
            <FilePages sources={sources} />
          </nav>
          <div class="shown">
            <p class="shown-path">
              <code>
                <SafeText text={shown.path} />
              </code>{' '}
              <CopyButton text={shown.text} what="this source" />
            </p>
            {shown.hidden.length > 0 && (
              <ul class="hidden-list" aria-label="Characters that nobody sees">
                {shown.hidden.slice(0, HIDDEN_LISTED).map(({ line, column, codePoint, name }) => (
                  <li key={`${line}:${column}`}>
                    line {line}, column {column}: <strong>{codePoint}</strong> {name}
                  </li>
                ))}
                {shown.hidden.length > HIDDEN_LISTED && <li>and more of them</li>}
              </ul>
            )}
            <SourceCode
              text={shown.text}
              label={`The source ${spellHiddenCharacters(shown.path)}`}
            />
            {!shown.isWhole && (
              <p class="quiet">
                The first {formatCount(shown.text.length)} characters of a file of{' '}
                {formatCount(shown.bytes)} bytes; the whole file is among the downloads.
              </p>
            )}
          </div>
        </div>
      )}
    </section>
  );
}

/** Which files of how many are named, and where the others are. Works without scripts. */
function FilePages({
  sources: { total, files, isFirst, isLast, next },
}: {
  readonly sources: SourceFiles;
}): VNode | null {
  if (isFirst && isLast) return null;
  return (
    <p class="quiet">
      {formatCount(files.length)} of {formatCount(total)} files, in the order of their paths.{' '}
      {!isFirst && <a href="?#sources">First files</a>}{' '}
      {next !== undefined && <a href={`?${next}#sources`}>Next files</a>}
      {!isLast && next === undefined && 'The others are among the downloads.'}
    </p>
  );
}

function Tree({
  nodes,
  files,
  current,
}: {
  readonly nodes: readonly TreeNode[];
  readonly files: ReadonlyMap<string, SourceFile>;
  readonly current: string;
}): VNode {
  return (
    <ul>
      {nodes.map((node, index) => {
        const { path } = node;
        if (path === undefined) {
          return (
            <li key={index}>
              <span class="folder">
                <SafeText text={`${node.name}/`} />
              </span>
              <Tree nodes={node.children} files={files} current={current} />
            </li>
          );
        }
        const { hidden = 0, query } = files.get(path) ?? {};
        const name = <SafeText text={node.name === '' ? '(no name)' : node.name} />;
        return (
          <li key={index}>
            {query === undefined ? (
              name
            ) : (
              <a href={`?${query}#sources`} aria-current={path === current ? 'true' : undefined}>
                {name}
              </a>
            )}
            {hidden > 0 && (
              <span class="warning" title="holds invisible characters">
                {' '}
                hidden characters
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
