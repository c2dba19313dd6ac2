import { type VNode } from 'preact';
import { definePage, type ViewProps } from '../page.ts';

const PAGES = [
  ['', 'Overview', 'what is verified here, and how the service is'],
  ['contracts', 'Contracts', 'find one by its address or name, and read its sources'],
  ['registry', 'Chains', 'every chain that the service knows'],
  ['statistics', 'Statistics', 'the counts over time'],
  ['verify', 'Verify', 'bring the sources of a contract'],
  ['counts', 'Methodology', 'what a full and a partial match say'],
  ['docs', 'API', 'everything that both hosts answer, for programs'],
] as const;

/** The home of the repository host. */
export const page = definePage<undefined>({
  title: () => 'Fullmatch repository',
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
          once at its best match
        </li>
        <li>
          <a href={`${base}manifest.json`}>/manifest.json</a>: the moment that the counts are true
          for
        </li>
        <li>
          <code>{'/contracts/full_match/{chain}/{address}/'}</code> and{' '}
          <code>{'/contracts/partial_match/{chain}/{address}/'}</code>: the files of a contract,
          which are its metadata and its sources
        </li>
      </ul>
      <h2>Pages</h2>
      {site === undefined ? (
        <p>The host of the pages is switched off here.</p>
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
