import { Fragment, type VNode } from 'preact';
import { type Api, type Loaded } from '../api.ts';
import { definePage, type ViewProps } from '../page.ts';
import { Failure } from '../parts/notices.tsx';
import './docs.css';

/** A JSON Schema of the document. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly example?: unknown;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Operation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly description?: string;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: { readonly content?: Content };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Content }>
  >;
  readonly servers?: readonly { readonly description?: string }[];
  readonly 'x-example'?: Example;
}

/** An example request, and its response. */
interface Example {
  readonly request: string;
  readonly status: number;
  readonly type: string;
  readonly answer: string;
}

/** The part of the OpenAPI document that the page shows. */
interface Openapi {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description?: string;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Address with which the examples of the document were recorded. */
const DOCUMENTED_URL = 'http://localhost:5555';

/** API reference of both hosts, from the OpenAPI document. */
export const page = definePage<Loaded<Openapi>>({
  section: 'docs',
  title: () => 'API',
  load: (api: Api) => api.get<Openapi>('openapi.json'),
  status: (document) => (document.state === 'ready' ? 200 : 503),
  isStatic: true,
  View: DocsView,
});

function DocsView({
  data,
  context: { base, apiUrl = DOCUMENTED_URL },
}: ViewProps<Loaded<Openapi>>): VNode {
  if (data.state === 'failed') return <Failure what="The description" loaded={data} />;
  const { info, tags, paths, components } = data.value;
  const [lead = '', ...paragraphs] = (info.description ?? '').split('\n\n');
  const entries = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  const groups = tags.map((tag) => ({
    ...tag,
    members: entries.filter(({ operation }) => operation.tags?.includes(tag.name)),
  }));
  return (
    <div class="docs">
      <nav aria-label="Operations and schemas" class="docs-index">
        {groups.map(({ name: group, members }) => (
          <details key={group}>
            <summary>
              {group} <span class="count">{members.length}</span>
            </summary>
            <ul class="plain">
              {members.map(({ name }) => (
                <li key={name}>
                  <a href={`#${anchorOf(name)}`}>
                    <code>{name}</code>
                  </a>
                </li>
              ))}
            </ul>
          </details>
        ))}
        <details>
          <summary>
            Schemas <span class="count">{Object.keys(components.schemas).length}</span>
          </summary>
          <ul class="plain">
            {Object.keys(components.schemas).map((name) => (
              <li key={name}>
                <a href={`#${anchorOf(name)}`}>{name}</a>
              </li>
            ))}
          </ul>
        </details>
      </nav>
      <div class="docs-text">
        <h1>{info.title} API</h1>
        <p class="lead">{lead}</p>
        {paragraphs.map((text) => (
          <p key={text}>{text}</p>
        ))}
        <p>
          Version {info.version} · <a href={`${base}openapi.json`}>openapi.json</a> ·{' '}
          <a href={`${base}llms.txt`}>llms.txt</a>
        </p>
        {groups.map(({ name: group, description, members }) => (
          <div key={group} class="docs-group">
            <h2 id={anchorOf(`group ${group}`)}>{group}</h2>
            <p class="lead">{description}.</p>
            {members.map((entry) => (
              <OperationSection key={entry.name} {...entry} {...{ apiUrl }} />
            ))}
          </div>
        ))}
        <h2>Schemas</h2>
        {Object.entries(components.schemas).map(([name, schema]) => (
          <SchemaSection key={name} name={name} schema={schema} />
        ))}
      </div>
    </div>
  );
}

function anchorOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '');
}

function OperationSection({
  name,
  operation,
  apiUrl,
}: {
  readonly name: string;
  readonly operation: Operation;
  readonly apiUrl: string;
}): VNode {
  const { summary, description, parameters = [], requestBody, responses, servers } = operation;
  const host = servers?.[0]?.description;
  const example = operation['x-example'];
  const anchor = anchorOf(name);
  return (
    <section aria-labelledby={anchor} class="operation">
      <h3 id={anchor}>
        <code>{name}</code>
      </h3>
      <p>
        <strong>{summary}</strong>
        {host !== undefined && <span class="quiet"> ({host})</span>}
      </p>
      {description !== undefined && <p>{description}</p>}
      {parameters.length > 0 && (
        <>
          <h4>Parameters</h4>
          <dl class="terms">
            {parameters.map(({ name: parameter, description: about, schema }) => (
              <Fragment key={parameter}>
                <dt>
                  <code>{parameter}</code>
                </dt>
                <dd>
                  {about}
                  {schema?.example !== undefined && (
                    <>
                      , such as <code>{JSON.stringify(schema.example)}</code>
                    </>
                  )}
                </dd>
              </Fragment>
            ))}
          </dl>
        </>
      )}
      {requestBody?.content !== undefined && (
        <>
          <h4>Body</h4>
          <ul>
            <Contents content={requestBody.content} Item="li" />
          </ul>
        </>
      )}
      <h4>Responses</h4>
      <dl class="terms">
        {Object.entries(responses).map(([status, response]) => (
          <Fragment key={status}>
            <dt>
              <code>{status}</code> <MarkedText text={response.description} />
            </dt>
            <Contents content={response.content ?? {}} Item="dd" />
          </Fragment>
        ))}
      </dl>
      {example !== undefined && <ExampleBlock {...{ name, apiUrl, example }} />}
    </section>
  );
}

function ExampleBlock({
  name,
  apiUrl,
  example: { request, status, type, answer },
}: {
  readonly name: string;
  readonly apiUrl: string;
  readonly example: Example;
}): VNode {
  return (
    <div class="docs-example">
      <h4>Example</h4>
      <pre tabIndex={0} role="region" aria-label={`Request: ${name}`}>
        {request.replaceAll(DOCUMENTED_URL, apiUrl)}
      </pre>
      <p class="quiet">
        Response: <code>{status}</code>
        {type !== '' && (
          <>
            , <code>{type}</code>
          </>
        )}
      </p>
      {answer !== '' && (
        <pre tabIndex={0} role="region" aria-label={`Response: ${name}`}>
          {answer}
        </pre>
      )}
    </div>
  );
}

function Contents({
  content,
  Item,
}: {
  readonly content: Content;
  readonly Item: 'dd' | 'li';
}): VNode {
  return (
    <>
      {Object.entries(content).map(([type, { schema }]) => (
        <Item key={type}>
          <code>{type}</code>
          {schema !== undefined && (
            <>
              : <TypeName schema={schema} />
            </>
          )}
        </Item>
      ))}
    </>
  );
}

function SchemaSection({
  name,
  schema,
}: {
  readonly name: string;
  readonly schema: Schema;
}): VNode {
  const anchor = anchorOf(name);
  const values = schema.additionalProperties;
  return (
    <details class="schema">
      <summary>
        <h3>{name}</h3>
      </summary>
      {/* Following a link to its content opens it. */}
      <div id={anchor}>
        <p>{schema.description}</p>
        {schema.properties === undefined && typeof values === 'object' && (
          <>
            <h4>Each value</h4>
            <Members schema={values} />
          </>
        )}
        <Members schema={schema} />
      </div>
    </details>
  );
}

/** Members of an object, and of nested objects. */
function Members({
  schema: { properties, required = [] },
}: {
  readonly schema: Schema;
}): VNode | null {
  if (properties === undefined) return null;
  return (
    <dl class="terms">
      {Object.entries(properties).map(([member, { description, ...schema }]) => (
        <Fragment key={member}>
          <dt>
            <code>{member}</code>{' '}
            <span class="quiet">
              <TypeName schema={schema} />
              {!required.includes(member) && ', optional'}
            </span>
          </dt>
          <dd>
            {description}
            <Members schema={schema.items ?? schema} />
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

function TypeName({ schema: { $ref, items, type } }: { readonly schema: Schema }): VNode {
  if ($ref !== undefined) {
    const name = $ref.replace('#/components/schemas/', '');
    return <a href={`#${anchorOf(name)}`}>{name}</a>;
  }
  if (items !== undefined) {
    return (
      <>
        array of <TypeName schema={items} />
      </>
    );
  }
  return <>{type === undefined ? 'any' : [type].flat().join(' or ')}</>;
}

/** Text in which backquotes mark code. */
function MarkedText({ text }: { readonly text: string }): VNode {
  return (
    <>
      {text
        .split('`')
        .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </>
  );
}
