import { type Answer } from '../answer.ts';
import { answerPage, html, type Html } from '../html.ts';
import {
  type JsonSchema,
  type OpenapiDocument,
  type OpenapiOperation,
} from '../openapi-document.ts';

interface Entry {
  readonly name: string;
  readonly anchor: string;
  readonly path: string;
  readonly operation: OpenapiOperation;
}

/**
 * Renders GET /docs from the OpenAPI document, once. The result answers for the path at which the page was asked for:
 * under a trailing slash its relative links start one step higher.
 */
export function renderDocs(document: OpenapiDocument): (path: string) => Answer {
  const entries = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      anchor: anchorOf(`${method} ${path}`),
      path,
      operation,
    })),
  );
  const [lead = '', ...paragraphs] = (document.info.description ?? '').split('\n\n');
  const main = html`${paragraphs.map((text) => html`<p>${text}</p>`)}
    <nav aria-label="Requests and schemas">
      <h2>Requests</h2>
      <ul>
        ${entries.map(
          ({ name, anchor, operation }) =>
            html`<li>
              <a href="#${anchor}"><code>${name}</code></a> ${operation.summary}
            </li>`,
        )}
      </ul>
      <h2>Schemas</h2>
      <ul>
        ${Object.keys(document.components.schemas).map((name) => html`<li><a href="#${anchorOf(name)}">${name}</a></li>`)}
      </ul>
    </nav>
    ${entries.map(renderEntry)}
    ${Object.entries(document.components.schemas).map(([name, schema]) => renderSchema(name, schema))}`;
  return (path) => {
    const base = path.endsWith('/') ? '../' : './';
    return answerPage({
      title: `${document.info.title} HTTP interface`,
      base,
      lead: html`${lead}`,
      main,
      footer: html`<p>
        Version ${document.info.version} · <a href="${base}openapi.json">openapi.json</a> ·
        <a href="${base}">home</a>
      </p>`,
    });
  };
}

function anchorOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '');
}

function renderEntry({ name, anchor, operation }: Entry): Html {
  const host = operation.servers?.[0];
  return html`<section aria-labelledby="${anchor}">
    <h2 id="${anchor}"><code>${name}</code></h2>
    <p>
      ${operation.summary}${host === undefined ? undefined : html` <span class="quiet">(${host.description})</span>`}
    </p>
    ${operation.description === undefined ? undefined : html`<p>${operation.description}</p>`}
    ${renderParameters(operation)} ${renderBody(operation)}
    <h3>Answers</h3>
    <dl class="terms">
      ${Object.entries(operation.responses).map(
        ([status, response]) =>
          html`<dt><code>${status}</code> ${renderText(response.description)}</dt>
            ${renderContent(response.content)}`,
      )}
    </dl>
  </section> `;
}

function renderContent(content: OpenapiOperation['responses'][string]['content']): Html[] {
  return Object.entries(content ?? {}).map(
    ([type, { schema }]) =>
      html`<dd>
        <code>${type}</code>${schema === undefined ? undefined : html`: ${typeOf(schema)}`}
      </dd>`,
  );
}

function renderBody({ requestBody }: OpenapiOperation): Html | undefined {
  if (requestBody?.content === undefined) return undefined;
  return html`<h3>Body</h3>
    <ul>
      ${Object.entries(requestBody.content).map(([type, { schema }]) => html`<li><code>${type}</code>${schema === undefined ? undefined : html`: ${typeOf(schema)}`}</li>`)}
    </ul>`;
}

function renderParameters(operation: OpenapiOperation): Html | undefined {
  if (operation.parameters === undefined || operation.parameters.length === 0) return undefined;
  return html`<h3>Parameters</h3>
    <dl class="terms">
      ${operation.parameters.map(
        ({ name, description, schema }) =>
          html`<dt><code>${name}</code></dt>
            <dd>
              ${description}${schema?.example === undefined ? undefined : html`, such as <code>${JSON.stringify(schema.example)}</code>`}
            </dd>`,
      )}
    </dl>`;
}

function renderSchema(name: string, schema: JsonSchema): Html {
  const anchor = anchorOf(name);
  const members = Object.entries(schema.properties ?? {});
  const values = schema['additionalProperties'];
  return html`<section aria-labelledby="${anchor}">
    <h2 id="${anchor}">${name}</h2>
    <p>${schema.description}</p>
    ${members.length === 0 ? undefined : renderMembers(schema)}
    ${
      members.length > 0 || !isSchema(values)
        ? undefined
        : html`<h3>Every value</h3>
            ${renderMembers(values)}`
    }
  </section> `;
}

function renderMembers(schema: JsonSchema): Html {
  const required = new Set(schema.required);
  return html`<dl class="terms">
    ${Object.entries(schema.properties ?? {}).map(
      ([member, { description, ...rest }]) =>
        html`<dt>
            <code>${member}</code>
            <span class="quiet"
              >${typeOf(rest)}${required.has(member) ? '' : ', may be absent'}</span
            >
          </dt>
          <dd>${description}${renderInner(rest)}</dd>`,
    )}
  </dl>`;
}

/** The members of an object, or of the objects of an array. */
function renderInner(schema: JsonSchema): Html | undefined {
  const inner = schema.items ?? schema;
  return inner.properties === undefined ? undefined : renderMembers(inner);
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null;
}

function typeOf(schema: JsonSchema): Html {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/components/schemas/', '');
    return html`<a href="#${anchorOf(name)}">${name}</a>`;
  }
  if (schema.items !== undefined) return html`array of ${typeOf(schema.items)}`;
  return html`${schema.type === undefined ? 'any' : [schema.type].flat().join(' or ')}`;
}

/** Text in which back quotes mark code. */
function renderText(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}
