import { type VNode } from 'preact';
import { formatCount } from '../format.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { type ContractFacts, type SourceFile } from './contract-data.ts';
import { spellHiddenCharacters } from './hidden-characters.ts';
import { buildFileTree, type TreeNode } from './file-tree.ts';
import { SourceCode } from './source-code.tsx';

const HIDDEN_LISTED = 10;

/** The sources: their tree, and the one that was chosen. Each is a page of its own, so that large contracts stay light. */
export function SourcesSection({ facts }: { readonly facts: ContractFacts }): VNode {
  const { sources, shown } = facts;
  const files = new Map(sources.map((file) => [file.path, file]));
  return (
    <section aria-labelledby="sources">
      <h2 id="sources">
        Sources <span class="count">{formatCount(sources.length)}</span>
      </h2>
      {shown === undefined ? (
        <p>This service has the match, but no sources of it.</p>
      ) : (
        <div class="sources">
          <nav aria-label="Sources" class="tree">
            <Tree nodes={buildFileTree([...files.keys()])} files={files} current={shown.path} />
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
            {shown.text.length < shown.characters && (
              <p class="quiet">
                The first {formatCount(shown.text.length)} of {formatCount(shown.characters)}{' '}
                characters; the whole file is among the downloads.
              </p>
            )}
          </div>
        </div>
      )}
    </section>
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
        const hidden = files.get(path)?.hidden ?? 0;
        return (
          <li key={index}>
            <a
              href={`?${new URLSearchParams({ source: path }).toString()}#sources`}
              aria-current={path === current ? 'true' : undefined}
            >
              <SafeText text={node.name === '' ? '(no name)' : node.name} />
            </a>
            {hidden > 0 && (
              <span class="warning" title="holds characters that nobody sees">
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
