import { type VNode } from 'preact';
import { type Api, type Loaded } from '../api.ts';
import { type ContractFolder } from '../answers.ts';
import { definePage, type ViewProps } from '../page.ts';
import { Failure } from '../parts/notices.tsx';
import { cutPath, takeWithin } from '../contract/shown-paths.ts';
import { formatCount } from '../format.ts';
import { SafeText } from '../parts/safe-text.tsx';

/** Of the paths of a page and of the links to them, together. */
const PATHS_SHOWN_CHARACTERS = 400_000;

/** The files of a folder, or the first of them. */
type ShownFolder = ContractFolder & { readonly total: number };

/** The files of a contract in the published tree. */
export const page = definePage<Loaded<ShownFolder>>({
  title: ({ request: { params } }) => `Files of ${params['address'] ?? ''} · Fullmatch`,
  load: async (api: Api, { path }) => {
    const folder = await api.get<ContractFolder>(path.slice(1));
    if (folder.state === 'failed') return folder;
    const { files } = folder.value;
    const room = PATHS_SHOWN_CHARACTERS;
    const shown = takeWithin(files, (file) => cutPath(file.path).length + file.url.length, room);
    return { ...folder, value: { ...folder.value, files: [...shown], total: files.length } };
  },
  status: (folder) => (folder.state === 'ready' ? 200 : folder.status || 503),
  View: FolderView,
});

function FolderView({
  data,
  request: { params },
  context: { base, site },
}: ViewProps<Loaded<ShownFolder>>): VNode {
  if (data.state === 'failed') {
    return (
      <div class="prose">
        <h1>Files</h1>
        {data.status === 404 || data.status === 400 ? (
          <p>
            <SafeText text={data.message} />
          </p>
        ) : (
          <Failure what="The files" loaded={data} />
        )}
      </div>
    );
  }
  const { match, chainId, address, files, total } = data.value;
  return (
    <>
      <h1>Files of {address}</h1>
      <p class="lead">
        What is published of a {match} match on chain {chainId}.{' '}
        {site !== undefined && (
          <a href={`${site}contract/${chainId}/${params['address'] ?? address}`}>
            The page of the contract
          </a>
        )}
      </p>
      <ul class="plain files">
        {files.map(({ path, url }) => (
          <li key={path}>
            <a href={`${base}${url.slice(1)}`}>
              <SafeText text={cutPath(path)} />
            </a>
          </li>
        ))}
      </ul>
      {total > files.length && (
        <p class="quiet">
          The first {formatCount(files.length)} of {formatCount(total)} files; this address has them
          all for programs, as JSON.
        </p>
      )}
    </>
  );
}
