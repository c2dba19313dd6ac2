import { hydrate } from 'preact';
import { type ViewProps } from './page.ts';
import { loadView } from './pages.ts';
import { Layout } from './parts/layout.tsx';
import './styles.css';

const root = document.querySelector('#page');
const state = document.querySelector('#state')?.textContent;

if (root !== null && state !== null && state !== undefined) {
  const { view, props } = JSON.parse(state) as {
    readonly view: string;
    readonly props: ViewProps<unknown>;
  };
  const page = await loadView(view);
  if (page !== undefined) {
    hydrate(
      <Layout page={page} request={props.request} context={props.context}>
        <page.View {...props} />
      </Layout>,
      root,
    );
  }
}
