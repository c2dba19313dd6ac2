import { hydrate } from 'preact';
import { type ViewProps } from './page.ts';
import { findPage } from './pages.ts';
import { Layout } from './parts/layout.tsx';
import './styles.css';

const root = document.querySelector('#page');
const state = document.querySelector('#state')?.textContent;

if (root !== null && state !== null && state !== undefined) {
  const props = JSON.parse(state) as ViewProps<unknown>;
  const found = await findPage(props.request.path, props.request.query);
  if (found !== undefined) {
    const { page } = found;
    hydrate(
      <Layout page={page} request={props.request} context={props.context}>
        <page.View {...props} />
      </Layout>,
      root,
    );
  }
}
