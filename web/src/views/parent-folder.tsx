import { type ComponentChildren, type VNode } from 'preact';
import { type Api, type Loaded } from '../api.ts';
import { type ChainFolder, type MatchFolder, type RootFolder } from '../answers.ts';
import { formatCount } from '../format.ts';
import { definePage, type ViewProps } from '../page.ts';
import { FolderPath } from '../parts/folder-path.tsx';
import { Failure } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { TableRegion } from '../parts/table-region.tsx';

type ParentFolder = RootFolder | MatchFolder | ChainFolder;

/** A folder of the published tree above those of contracts. */
export const page = definePage<Loaded<ParentFolder>>({
  title: ({ request: { path } }) => `Folder ${path.slice(1)}`,
  load: (api: Api, { path, query }) => {
    const after = new URLSearchParams(query).get('after');
    const asked = after === null ? '' : `?${new URLSearchParams({ after }).toString()}`;
    return api.get<ParentFolder>(`${path.slice(1)}${asked}`);
  },
  status: (folder) => (folder.state === 'ready' ? 200 : folder.status || 503),
  View: ParentFolderView,
});

function ParentFolderView({
  data,
  request: { params },
  context: { base, site },
}: ViewProps<Loaded<ParentFolder>>): VNode {
  return (
    <>
      <FolderPath base={base} params={params} />
      {data.state === 'failed' ? (
        <FailedFolder folder={data} />
      ) : 'folders' in data.value ? (
        <Root folder={data.value} base={base} />
      ) : 'chains' in data.value ? (
        <Chains folder={data.value} base={base} />
      ) : (
        <Contracts folder={data.value} base={base} site={site} />
      )}
    </>
  );
}

function FailedFolder({
  folder,
}: {
  readonly folder: Extract<Loaded<ParentFolder>, { state: 'failed' }>;
}): VNode {
  return (
    <div class="prose">
      <h1>Folder</h1>
      {folder.status === 400 ? (
        <p>
          <SafeText text={folder.message} />
        </p>
      ) : (
        <Failure what="The folder" loaded={folder} />
      )}
    </div>
  );
}

const hrefOf = (base: string, url: string): string => `${base}${url.slice(1)}`;

function Root({ folder, base }: { readonly folder: RootFolder; readonly base: string }): VNode {
  return (
    <>
      <h1>Contracts</h1>
      <p class="lead">
        The published files of all contracts, by match, including the claims of other services.
      </p>
      <Listing caption="Folders" heads={['Folder', 'Contracts']}>
        {folder.folders.map(({ match, contracts, url }) => (
          <tr key={url}>
            <th scope="row">
              <a href={hrefOf(base, url)}>{match}_match</a>
            </th>
            <td class="figure">{formatCount(contracts)}</td>
          </tr>
        ))}
      </Listing>
    </>
  );
}

function Chains({ folder, base }: { readonly folder: MatchFolder; readonly base: string }): VNode {
  const { match, chains } = folder;
  return (
    <>
      <h1>Chains with {match} matches</h1>
      {chains.length === 0 ? (
        <p>No contract has a {match} match yet.</p>
      ) : (
        <Listing
          caption={chains.length === 1 ? '1 chain' : `${formatCount(chains.length)} chains`}
          heads={['Folder', 'Chain', 'Contracts']}
        >
          {chains.map(({ chainId, name, contracts, url }) => (
            <tr key={chainId}>
              <th scope="row">
                <a href={hrefOf(base, url)}>{chainId}</a>
              </th>
              <td>
                <SafeText text={name} />
              </td>
              <td class="figure">{formatCount(contracts)}</td>
            </tr>
          ))}
        </Listing>
      )}
    </>
  );
}

function Contracts({
  folder: { match, chainId, name, total, contracts, next },
  base,
  site,
}: {
  readonly folder: ChainFolder;
  readonly base: string;
  readonly site: string | undefined;
}): VNode {
  return (
    <>
      <h1>
        {match === 'full' ? 'Full' : 'Partial'} matches on <SafeText text={name} />
      </h1>
      <p class="lead">
        {formatCount(total)} {total === 1 ? 'contract' : 'contracts'}, newest first.{' '}
        {site !== undefined && <a href={`${site}registry/${chainId}`}>Chain page</a>}
      </p>
      {contracts.length === 0 ? (
        <p>There are no contracts on this page.</p>
      ) : (
        <Listing caption="Contracts" heads={['Folder', 'Contract']}>
          {contracts.map((contract) => (
            <tr key={contract.address}>
              <th scope="row">
                <a href={hrefOf(base, contract.url)}>
                  <code>{contract.address}</code>
                </a>
              </th>
              <td>
                {contract.name === null ? (
                  <span class="quiet">no name</span>
                ) : (
                  <SafeText text={contract.name} />
                )}
              </td>
            </tr>
          ))}
        </Listing>
      )}
      {next !== null && (
        <p>
          <a
            href={`${base}contracts/${match}_match/${chainId}/?${new URLSearchParams({ after: next }).toString()}`}
          >
            Next page
          </a>
        </p>
      )}
    </>
  );
}

function Listing({
  caption,
  heads,
  children,
}: {
  readonly caption: string;
  /** Counts are aligned like the figures below them. */
  readonly heads: readonly string[];
  readonly children: ComponentChildren;
}): VNode {
  return (
    <TableRegion label={caption}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col" class={head === 'Contracts' ? 'figure' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </TableRegion>
  );
}
