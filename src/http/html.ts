import { createHash } from 'node:crypto';

import { answer, type Answer, HTML_TYPE, REVALIDATED } from './answer.ts';

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlValue = string | number | Html | readonly Html[] | undefined;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A template of HTML: every value is escaped unless it is {@link Html} itself. `undefined` is nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0] ?? '';
  values.forEach((value, index) => {
    text += render(value) + (strings[index + 1] ?? '');
  });
  return new Html(text);
}

function render(value: HtmlValue): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map((part) => part.text).join('');
  return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

const STYLE = `
:root{color-scheme:light dark;--ground:#fbfbfa;--text:#1c1d1f;--quiet:#5b6067;--line:#dcdde0;--link:#0b57b8;--panel:#f1f2f3}
@media (prefers-color-scheme:dark){:root{--ground:#141517;--text:#e8e9eb;--quiet:#a2a8b0;--line:#33363b;--link:#8ab8ff;--panel:#1e2023}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:1rem/1.55 system-ui,sans-serif}
main,header,footer{max-width:46rem;margin:0 auto;padding:0 1rem}
header{padding-top:2.5rem}
footer{padding-top:1.5rem;padding-bottom:2.5rem;color:var(--quiet);font-size:.9rem}
h1{font-size:1.75rem;line-height:1.2;margin:0 0 .5rem}
h2{font-size:1.2rem;margin:2.25rem 0 .5rem;padding-top:1rem;border-top:1px solid var(--line);overflow-wrap:anywhere}
h3{font-size:1rem;margin:1.25rem 0 .25rem}
p{margin:.5rem 0}
a{color:var(--link)}
a:focus-visible,pre:focus-visible{outline:3px solid var(--link);outline-offset:2px}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}
code{overflow-wrap:anywhere}
pre{background:var(--panel);padding:.75rem;overflow-x:auto;border-radius:.25rem}
.quiet{color:var(--quiet)}
.terms dt{margin-top:.6rem}
.terms dd{margin:0 0 0 1rem}
ul{padding-left:1.2rem}
li{margin:.25rem 0}
`;

const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Nothing is loaded but the icon, nothing runs, and the one style is known by its hash. */
const PAGE_HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const;

/** A page of the service: it needs no other request, no script, and fits a screen of 320 px, light or dark. */
interface Page {
  readonly title: string;
  /** What the page is, in one sentence under its title. */
  readonly lead: Html;
  readonly main: Html;
  readonly footer: Html;
  /** From this page to the root of its host: `./` or `../`. Links stay right behind a proxy that adds a path. */
  readonly base: string;
}

/** A page as an answer. */
export function answerPage(page: Page): Answer {
  const { text } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${page.title}</title>
        <link rel="icon" type="image/svg+xml" href="${page.base}favicon.ico" />
        ${STYLE_ELEMENT}
      </head>
      <body>
        <header>
          <h1>${page.title}</h1>
          <p>${page.lead}</p>
        </header>
        <main>${page.main}</main>
        <footer>${page.footer}</footer>
      </body>
    </html> `;
  return answer(text, { type: HTML_TYPE, cacheControl: REVALIDATED, headers: PAGE_HEADERS });
}
