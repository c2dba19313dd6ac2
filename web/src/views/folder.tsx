import { Fragment, type VNode } from 'preact';
import { type Api, type Loaded } from '../api.ts';
import { type ContractFolder } from '../answers.ts';
import { definePage, type ViewProps } from '../page.ts';
import { FolderPath } from '../parts/folder-path.tsx';
import { Failure } from '../parts/notices.tsx';
import { cutPath, takeWithin } from '../contract/shown-paths.ts';
import { formatCount } from '../format.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { TableRegion } from '../parts/table-region.tsx';

/** Maximum total length of the paths of a page and the links to them. */
const PATHS_SHOWN_CHARACTERS = 400_000;

/** Pages of the API host about the same contract. */
const FILES = [
  ['sources.zip', 'all of them'],
  ['standard-input.json', 'for the compiler'],
  ['abi.json', 'for tools'],
] as const;

/** The files of a folder, or the first of them. */
type ShownFolder = ContractFolder & {
  /** Number of files, including those that are not shown. */
  readonly total: number;
  /** Total size of the files whose size is known. */
  readonly bytes: number;
  /** Number of files whose size is unknown until they are rendered. */
  readonly unsized: number;
};

/** Files of a contract in the published tree. */
export const page = definePage<Loaded<ShownFolder>>({
  title: ({ request: { params } }) => `Files of ${params['address'] ?? ''}`,
  load: async (api: Api, { path }) => {
    const folder = await api.get<ContractFolder>(path.slice(1));
    if (folder.state === 'failed') return folder;
    const { files } = folder.value;
    const room = PATHS_SHOWN_CHARACTERS;
    const shown = takeWithin(files, (file) => cutPath(file.path).length + file.url.length, room);
    const value = {
      ...{ ...folder.value, files: [...shown], total: files.length },
      bytes: files.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
      unsized: files.filter(({ bytes }) => bytes === undefined).length,
    };
    return { ...folder, value };
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
        <FolderPath base={base} params={params} />
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
  const { match, chainId, address, files, total, bytes, unsized } = data.value;
  return (
    <>
      <FolderPath base={base} params={params} />
      <h1>Files of {address}</h1>
      <p class="lead">
        The published files of a {match} match on chain {chainId}.{' '}
        {site !== undefined && (
          <a href={`${site}contract/${chainId}/${params['address'] ?? address}`}>Contract page</a>
        )}
      </p>
      {site !== undefined && (
        <p>
          As one archive:{' '}
          {FILES.map(([file, about], index) => (
            <Fragment key={file}>
              {index > 0 && ' · '}
              <a href={`${site}v1/contracts/${chainId}/${address}/files/${file}`}>{file}</a> {about}
            </Fragment>
          ))}
        </p>
      )}
      <TableRegion label="Files">
        <table>
          <caption>
            {formatCount(total)} {total === 1 ? 'file' : 'files'}, {formatCount(bytes)} bytes
            {unsized > 0 && ' excluding files generated on request'}
          </caption>
          <thead>
            <tr>
              <th scope="col">File</th>
              <th scope="col" class="figure">
                Bytes
              </th>
            </tr>
          </thead>
          <tbody>
            {files.map((file) => (
              <tr key={file.path}>
                <th scope="row">
                  <a href={`${base}${file.url.slice(1)}`}>
                    <SafeText text={cutPath(file.path)} />
                  </a>
                </th>
                <td class="figure">{file.bytes !== undefined && formatCount(file.bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableRegion>
      {total > files.length && (
        <p class="quiet">
          The first {formatCount(files.length)} of {formatCount(total)} files; programs get all of
          them from this address as JSON.
        </p>
      )}
    </>
  );
}
