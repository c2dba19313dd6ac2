import { type VNode } from 'preact';
import { type Loaded } from '../api.ts';
import { formatCount } from '../format.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { Failure } from '../parts/notices.tsx';
import { type ShownSources, type SourceFile, type SourceFiles } from './contract-data.ts';
import { spellHiddenCharacters } from './hidden-characters.ts';
import { type FoundLines } from './find-lines.ts';
import { buildFileTree, type TreeNode } from './file-tree.ts';
import { SourceCode } from './source-code.tsx';

const HIDDEN_LISTED = 10;

/** The sources: their tree, and the selected one. Each is a separate page, so that large contracts stay light. */
export function SourcesSection({
  of: { sources, shown, found },
  loaded,
  rawFolder,
  hasDownloads = false,
}: {
  readonly of: ShownSources;
  /** Why the sources could not be read. */
  readonly loaded: Loaded<unknown> | undefined;
  /** Folder of the published files; absent if they are not published. */
  readonly rawFolder?: string | undefined;
  /** Whether another tab has the complete files. */
  readonly hasDownloads?: boolean;
}): VNode {
  const files = new Map(sources?.files.map((file) => [file.path, file]));
  return (
    <section aria-labelledby="sources">
      <h2 id="sources" class="unseen">
        Sources
      </h2>
      {sources === undefined ? (
        loaded?.state === 'failed' && <Failure what="The sources" loaded={loaded} />
      ) : shown === undefined ? (
        <p>The match is stored here without sources.</p>
      ) : (
        <div class="sources">
          <div>
            <FindForm found={found} />
            <nav aria-label="Sources" class="tree">
              <Tree nodes={buildFileTree([...files.keys()])} files={files} current={shown.path} />
              <FilePages sources={sources} hasDownloads={hasDownloads} />
            </nav>
          </div>
          <div class="shown">
            {found !== undefined && <FoundLinesList found={found} />}
            <p class="shown-path">
              <code>
                <SafeText text={shown.path} />
              </code>{' '}
              <CopyButton text={shown.text} what="this source" />{' '}
              {rawFolder !== undefined && shown.isNamed && (
                <a href={`${rawFolder}/sources/${encodePath(shown.path)}`}>Raw</a>
              )}
            </p>
            {shown.hidden.length > 0 && (
              <ul class="hidden-list" aria-label="Invisible characters">
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
              path={shown.path}
              queries={[...files.values()]}
              label={`The source ${spellHiddenCharacters(shown.path)}`}
            />
            {!shown.isWhole && (
              <p class="quiet">
                The first {formatCount(shown.text.length)} characters of a file of{' '}
                {formatCount(shown.bytes)} bytes
                {hasDownloads && '; the downloads have the whole file'}.
              </p>
            )}
          </div>
        </div>
      )}
    </section>
  );
}

const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** Searches the files of the contract. Works without scripts. */
function FindForm({ found }: { readonly found: FoundLines | undefined }): VNode {
  return (
    <form class="find" role="search" action="#sources">
      <label for="find">Search in the files</label>
      <input id="find" name="find" type="search" value={found?.text} autocomplete="off" />
      <button type="submit">Search</button>
    </form>
  );
}

function FoundLinesList({ found }: { readonly found: FoundLines }): VNode {
  const { text, lines, isCut, unsearched } = found;
  return (
    <div class="found-lines" role="status">
      <p>
        {lines.length === 0
          ? 'No line contains'
          : lines.length === 1
            ? '1 line contains'
            : `${formatCount(lines.length)} lines contain`}{' '}
        <strong>
          <SafeText text={text} />
        </strong>
        {isCut && '; only the first ones are listed'}
      </p>
      {unsearched > 0 && (
        <p class="quiet">
          {unsearched === 1 ? '1 file was' : `${formatCount(unsearched)} files were`} not searched,
          because the sources are too large; download them to search everything.
        </p>
      )}
      <ul class="plain">
        {lines.map(({ path, line, text: shown, href }) => (
          <li key={`${path}:${line}`}>
            {href === undefined ? (
              <SafeText text={`${path}:${line}`} />
            ) : (
              <a href={href}>
                <SafeText text={`${path}:${line}`} />
              </a>
            )}{' '}
            <code>
              <SafeText text={shown} />
            </code>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Which files of how many are listed, with links to the others. Works without scripts. */
function FilePages({
  sources: { total, files, isFirst, isLast, next },
  hasDownloads,
}: {
  readonly sources: SourceFiles;
  readonly hasDownloads: boolean;
}): VNode | null {
  if (isFirst && isLast) return null;
  return (
    <p class="quiet">
      {formatCount(files.length)} of {formatCount(total)} files, ordered by path.{' '}
      {!isFirst && <a href="?#sources">First files</a>}{' '}
      {next !== undefined && <a href={`?${next}#sources`}>Next files</a>}
      {hasDownloads && !isLast && next === undefined && 'The downloads have the others.'}
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
              <span class="warning" title="contains invisible characters">
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
