import { type VNode } from 'preact';
import { type Api, type Loaded } from '../api.ts';
import { type ContractFolder } from '../answers.ts';
import { definePage, type ViewProps } from '../page.ts';
import { Failure } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';

/** The files of a contract in the published tree. */
export const page = definePage<Loaded<ContractFolder>>({
  title: ({ request: { params } }) => `Files of ${params['address'] ?? ''} · Fullmatch`,
  load: (api: Api, { path }) => api.get<ContractFolder>(path.slice(1)),
  status: (folder) => (folder.state === 'ready' ? 200 : folder.status || 503),
  View: FolderView,
});

function FolderView({
  data,
  request: { params },
  context: { base, site },
}: ViewProps<Loaded<ContractFolder>>): VNode {
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
  const { match, chainId, address, files } = data.value;
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
              <SafeText text={path} />
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
