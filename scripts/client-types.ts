import { format, resolveConfig } from 'prettier';

import { type OpenapiDocument } from './openapi-document.ts';

/** The constructs of JSON Schema that the document uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly description?: string;
}

const NAMES: Readonly<Record<string, string>> = { integer: 'number' };

/** Renders the client's types: one for each schema of the document, except those of verification API v1. */
export async function renderClientTypes({ components }: OpenapiDocument): Promise<string> {
  const types = Object.entries(components.schemas as Readonly<Record<string, Schema>>)
    .filter(([name]) => !name.startsWith('V1'))
    .map(([name, schema]) => {
      const declared = isRecord(schema)
        ? `interface ${name} ${typeOf(schema)}`
        : `type ${name} = ${typeOf(schema)};`;
      return `${comment(schema)}export ${declared}`;
    });
  const header = `// Written by scripts/build-openapi.ts from the schemas of openapi.json.
    /* eslint max-lines: "off" */`;
  const config = await resolveConfig(import.meta.filename);
  return format([header, ...types].join('\n\n'), { ...config, parser: 'typescript' });
}

const comment = ({ description }: Schema): string =>
  description === undefined ? '' : `/** ${description.replaceAll('*/', '*\\/')} */\n`;

const isRecord = ({ properties = {} }: Schema): boolean => Object.keys(properties).length > 0;

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
  if (schema.enum !== undefined) return schema.enum.map((each) => JSON.stringify(each)).join(' | ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ');
  return [schema.type ?? 'unknown']
    .flat()
    .map((name) => {
      if (name === 'array') return `(${typeOf(schema.items ?? {})})[]`;
      return name === 'object' ? objectOf(schema) : (NAMES[name] ?? name);
    })
    .join(' | ');
}

function objectOf(schema: Schema): string {
  const { properties = {}, required = [], additionalProperties: rest } = schema;
  const isOpen = typeof rest === 'object';
  if (!isRecord(schema)) return `Record<string, ${isOpen ? typeOf(rest) : 'unknown'}>`;
  const fields = Object.entries(properties).map(
    ([name, field]) =>
      `${comment(field)}${name}${required.includes(name) ? '' : '?'}: ${typeOf(field)};`,
  );
  return `{\n${[...fields, ...(isOpen ? ['[name: string]: unknown;'] : [])].join('\n')}\n}`;
}
