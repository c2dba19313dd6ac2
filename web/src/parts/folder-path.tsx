import { Fragment, type VNode } from 'preact';
import { SafeText } from './safe-text.tsx';
import './folder-path.css';

/** Links to the folders above a folder of the published tree. */
export function FolderPath({
  base,
  params,
}: {
  readonly base: string;
  /** Parameters of the page's path. */
  readonly params: Readonly<Record<string, string>>;
}): VNode {
  const names = ['contracts', params['matchFolder'], params['chainId'], params['address']].filter(
    (name): name is string => name !== undefined,
  );
  return (
    <nav aria-label="Folders" class="folder-path">
      <a href={base}>Repository</a>
      {names.map((name, at) => (
        <Fragment key={name}>
          {' / '}
          {at === names.length - 1 ? (
            <span aria-current="page">
              <SafeText text={name} />
            </span>
          ) : (
            <a
              href={`${base}${names
                .slice(0, at + 1)
                .map(encodeURIComponent)
                .join('/')}/`}
            >
              <SafeText text={name} />
            </a>
          )}
        </Fragment>
      ))}
    </nav>
  );
}
