import { type VNode } from 'preact';
import { definePage, type ViewProps } from '../page.ts';

const PAGES = [
  ['', 'Overview', 'what is verified here, and the state of the service'],
  ['contracts', 'Contracts', 'find contracts by address or name, and read their sources'],
  ['registry', 'Chains', 'all known chains'],
  ['statistics', 'Statistics', 'the counts over time'],
  ['verify', 'Verify', 'submit the sources of a contract'],
  ['counts', 'Methodology', 'what full and partial matches prove'],
  ['docs', 'API', 'the API of both hosts'],
] as const;

/** Home page of the repository host. */
export const page = definePage<undefined>({
  title: () => 'Repository',
  load: () => Promise.resolve(undefined),
  isStatic: true,
  View: RepositoryView,
});

function RepositoryView({ context: { base, site } }: ViewProps<undefined>): VNode {
  return (
    <div class="prose">
      <h1>Fullmatch repository</h1>
      <p class="lead">
        The repository host of a smart-contract verification service: the published files of the
        contracts whose sources match the code on chain.
      </p>
      <h2>What it serves</h2>
      <ul>
        <li>
          <a href={`${base}stats.json`}>/stats.json</a>: verified contracts by chain, each counted
          once by its best match
        </li>
        <li>
          <a href={`${base}manifest.json`}>/manifest.json</a>: the time of the counts
        </li>
        <li>
          <a href={`${base}contracts/`}>/contracts/</a>: the folders of all contracts, by match and
          chain
        </li>
        <li>
          <code>{'/contracts/full_match/{chain}/{address}/'}</code> and{' '}
          <code>{'/contracts/partial_match/{chain}/{address}/'}</code>: the files of a contract:
          metadata and sources
        </li>
      </ul>
      <h2>Pages</h2>
      {site === undefined ? (
        <p>The pages are switched off here.</p>
      ) : (
        <ul>
          {PAGES.map(([path, name, about]) => (
            <li key={path}>
              <a href={`${site}${path}`}>{name}</a>: {about}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
