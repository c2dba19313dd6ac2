import { type Answer } from '../answer.ts';
import { answerPage, groupDigits, html } from '../html.ts';
import { type HttpDependencies } from '../host-dependencies.ts';

// A figure that is not known is not shown as 0.
const NOT_READ = html`<dd class="unknown">not read yet</dd>`;

/** GET / of the API host: what runs here, in figures, and where to go. */
export function renderHome(deps: HttpDependencies): Answer {
  const { registry, statistics, reasons } = deps.health();
  const { repository } = deps.urls();
  const figures = [
    ['Chains', registry?.chains],
    ['Supported chains', registry?.supported],
    ['Full matches', statistics?.full],
    ['Partial matches', statistics?.partial],
  ] as const;
  return answerPage({
    title: 'Fullmatch',
    base: './',
    lead: html`A smart-contract verification service: which chains it knows, and which contracts
    have sources that match the code on chain.`,
    main: html`<dl class="figures">
        ${figures.map(
          ([name, value]) =>
            html`<div>
              <dt>${name}</dt>
              ${value === undefined ? NOT_READ : html`<dd>${groupDigits(value)}</dd>`}
            </div>`,
        )}
      </dl>
      ${
        reasons.length === 0
          ? undefined
          : html`<h2>Needs a look</h2>
              <ul>
                ${reasons.map((reason) => html`<li>${reason.detail}</li>`)}
              </ul>`
      }
      <h2>Documents</h2>
      <ul>
        <li><a href="./chains">/chains</a>: every chain that was added to the service</li>
        ${
          repository === undefined
            ? html`<li>
                <code>/stats.json</code> is served by another process: the repository host is
                switched off here
              </li>`
            : html`<li>
                <a href="${join(repository, 'stats.json')}">/stats.json</a>: verified contracts by
                chain, on the <a href="${join(repository, '')}">repository host</a>
              </li>`
        }
      </ul>
      <h2>More</h2>
      <ul>
        <li>
          <a href="./docs">/docs</a>: the HTTP interface;
          <a href="./openapi.json">/openapi.json</a> describes it for programs
        </li>
        <li>
          <a href="./chains/1">/chains/1</a>: one chain, by id, <code>eip155:1</code> or short name
        </li>
        <li><a href="./health">/health</a>: what the service knows of its own state</li>
      </ul>`,
    footer: html`<p>fullmatch ${deps.version}</p>`,
  });
}

function join(url: string, path: string): string {
  return `${url.replace(/\/$/, '')}/${path}`;
}
