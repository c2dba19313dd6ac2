import { type Loaded } from '../api.ts';
import { formatCount } from '../format.ts';
import { definePage } from '../page.ts';
import { Failure } from '../parts/notices.tsx';

interface Health {
  readonly registry?: { readonly chains: number; readonly supported: number };
  readonly statistics?: { readonly full: number; readonly partial: number };
}

/** What this service holds, at a glance. */
export const overviewPage = definePage<{ readonly health: Loaded<Health> }>({
  template: '/',
  section: 'overview',
  title: () => 'Fullmatch',
  load: async (api) => ({ health: await api.get<Health>('health') }),
  View: ({ data: { health } }) => (
    <>
      <h1>Verified contracts</h1>
      {health.state === 'failed' ? (
        <Failure what="The counts" loaded={health} />
      ) : (
        <dl class="figures">
          <div>
            <dt>Full matches</dt>
            <dd>{formatCount(health.value.statistics?.full ?? 0)}</dd>
          </div>
          <div>
            <dt>Partial matches</dt>
            <dd>{formatCount(health.value.statistics?.partial ?? 0)}</dd>
          </div>
        </dl>
      )}
    </>
  ),
});
