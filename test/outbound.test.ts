import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const SOURCE = path.resolve(import.meta.dirname, '../src');

/** Modules through which a process can open a connection. */
const NETWORK_MODULES: ReadonlySet<string> = new Set([
  ...['http', 'https', 'http2', 'net', 'tls', 'dgram', 'dns', 'dns/promises', 'inspector'].flatMap(
    (name) => [name, `node:${name}`],
  ),
  ...['undici', 'pg', 'ws', 'axios', 'node-fetch', 'got', 'ethers', 'viem'],
]);

/** Global functions and classes that can. */
const NETWORK_GLOBALS: ReadonlySet<string> = new Set([
  'fetch',
  'WebSocket',
  'EventSource',
  'XMLHttpRequest',
]);

/** Permitted users and the reasons. Paths under src/; a folder ends in `/`. */
const ALLOWED: Readonly<
  Record<string, { readonly modules: readonly string[]; readonly why: string }>
> = {
  'lib/fetch-connections.ts': {
    modules: ['undici'],
    why: 'it makes the dispatcher of the guarded fetch',
  },
  'lib/guarded-connector.ts': {
    modules: ['undici', 'node:net', 'node:dns/promises'],
    why: 'it makes the connections of the guarded fetch',
  },
  'lib/guarded-socket.ts': {
    modules: ['undici', 'WebSocket'],
    why: 'it sends the messages of the guarded fetch over its connections',
  },
  'http/': { modules: ['node:http', 'node:net'], why: 'it listens; it never connects' },
  'store/': {
    modules: ['pg', 'node:net'],
    why: 'it connects to PostgreSQL, which the operator names',
  },
  'cli/': { modules: ['node:http', 'node:net'], why: 'it asks the operator’s own service' },
};

interface Use {
  readonly file: string;
  readonly what: string;
}

/** Finds every use of a network module (except types) or global in a file, from its syntax tree. */
function findNetworkUses(file: string, text: string): readonly Use[] {
  const uses: Use[] = [];
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const addModule = (node: ts.Node | undefined): void => {
    if (node !== undefined && ts.isStringLiteralLike(node) && NETWORK_MODULES.has(node.text)) {
      uses.push({ file, what: node.text });
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const bindings = node.importClause?.namedBindings;
      const onlyTypes =
        node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword ||
        (bindings !== undefined &&
          ts.isNamedImports(bindings) &&
          node.importClause?.name === undefined &&
          bindings.elements.every((element) => element.isTypeOnly));
      if (!onlyTypes) addModule(node.moduleSpecifier);
    } else if (ts.isExportDeclaration(node) && !node.isTypeOnly) {
      addModule(node.moduleSpecifier);
    } else if (ts.isCallExpression(node)) {
      const callee = node.expression;
      const isImport = callee.kind === ts.SyntaxKind.ImportKeyword;
      if (isImport || /(?:^|\.)(?:require|getBuiltinModule)$/.test(callee.getText(tree))) {
        addModule(node.arguments[0]);
      }
    } else if (ts.isIdentifier(node) && NETWORK_GLOBALS.has(node.text) && isGlobalUse(node)) {
      uses.push({ file, what: node.text });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return uses;
}

/** The names bound by a parameter or a declaration. */
function boundNames(name: ts.BindingName): readonly string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) =>
    ts.isBindingElement(element) ? boundNames(element.name) : [],
  );
}

/** Returns whether a parameter or variable of this name shadows the global at the node. */
function isHidden(node: ts.Identifier): boolean {
  for (let at: ts.Node = node.parent; at !== undefined; at = at.parent) {
    const names: string[] = [];
    if (ts.isFunctionLike(at)) {
      names.push(...at.parameters.flatMap((parameter) => boundNames(parameter.name)));
    }
    if (ts.isBlock(at) || ts.isSourceFile(at)) {
      for (const statement of at.statements.filter(ts.isVariableStatement)) {
        const { declarations } = statement.declarationList;
        names.push(...declarations.flatMap((declaration) => boundNames(declaration.name)));
      }
    }
    if (names.includes(node.text)) return true;
  }
  return false;
}

/** Returns whether an identifier reads the global of its name and is not a property, a binding or a name in a type. */
function isGlobalUse(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) {
    return parent.expression.getText() === 'globalThis';
  }
  const names =
    (ts.isPropertyAssignment(parent) && parent.name === node) ||
    (ts.isBindingElement(parent) && parent.propertyName === node) ||
    ts.isMethodDeclaration(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isMethodSignature(parent) ||
    (ts.isPropertyDeclaration(parent) && parent.name === node) ||
    ts.isTypeReferenceNode(parent);
  return !names && !isHidden(node);
}

function allows(file: string, what: string): boolean {
  return Object.entries(ALLOWED).some(
    ([place, { modules }]) =>
      modules.includes(what) && (place.endsWith('/') ? file.startsWith(place) : file === place),
  );
}

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => ({
    file: file.split(path.sep).join('/'),
    text: readFileSync(path.join(SOURCE, file), 'utf8'),
  }));

describe('network access in the code', () => {
  test('goes through the guarded fetch, except for the exceptions listed here', () => {
    const uses = files.flatMap(({ file, text }) => findNetworkUses(file, text));
    expect(uses.filter(({ file, what }) => !allows(file, what))).toEqual([]);
  });

  test('still includes the guarded fetch, so the list stays meaningful', () => {
    const uses = files.flatMap(({ file, text }) => findNetworkUses(file, text));
    for (const file of ['lib/fetch-connections.ts', 'lib/guarded-connector.ts']) {
      expect(uses.map((use) => use.file)).toContain(file);
    }
  });

  test.each([
    "import { request } from 'node:http';",
    "import http from 'http';",
    "import * as net from 'node:net';",
    "import 'undici';",
    "import { type Socket, connect } from 'node:net';",
    "export { request } from 'node:https';",
    "const tls = await import('node:tls');",
    "const dns = require('node:dns');",
    "const net = process.getBuiltinModule('node:net');",
    "await fetch('https://a.example');",
    'const ask = fetch;',
    'const ask = { ask: fetch };',
    "globalThis.fetch('https://a.example');",
    "new WebSocket('wss://a.example');",
    'function a(b = fetch) { return b; }',
    'function a(fetch: Fetch) { return fetch(b); } fetch(c);',
    'class A { readonly ask = fetch; }',
  ])('is detected in: %s', (text) => {
    expect(findNetworkUses('a.ts', text)).toHaveLength(1);
  });

  test.each([
    "import { type Socket } from 'node:net';",
    "import type { Server } from 'node:http';",
    "await guarded.fetch('https://a.example');",
    'interface A { fetch(url: string): void; readonly fetch: GuardedFetch }',
    'function a(fetch: GuardedFetch) { return () => createClient({ fetch }); }',
    'const fetch = createGuardedFetch(options); fetch.close();',
    'const { fetch } = options; ask({ fetch });',
    'const { fetch: ask } = options; ask(b);',
    "// fetch('https://a.example')",
    "const text = 'fetch(';",
  ])('is not detected in: %s', (text) => {
    expect(findNetworkUses('a.ts', text)).toEqual([]);
  });
});
