import path from 'node:path';
import ts from 'typescript';

/** The JavaScript type of a value as far as the driver is concerned. `any` fits every column and parameter. */
export type Kind =
  'string' | 'number' | 'boolean' | 'bytes' | 'date' | 'array' | 'object' | 'null' | 'any';

/** One call of `query` with its declared types. */
export interface DeclaredQuery {
  /** File and line, in the format of error messages. */
  readonly place: string;
  /** Label of the executed statement. */
  readonly label: string;
  /** The columns named by the row type; undefined if the call has no row type. */
  readonly columns: ReadonlyMap<string, ReadonlySet<Kind>> | undefined;
  /** One entry per parameter; undefined if the values are not written as an array. */
  readonly values: readonly ReadonlySet<Kind>[] | undefined;
}

const ROOT = path.resolve(import.meta.dirname, '../../..');
const PRIMITIVES: readonly (readonly [ts.TypeFlags, Kind])[] = [
  [ts.TypeFlags.StringLike, 'string'],
  // The driver sends a bigint as decimal digits.
  [ts.TypeFlags.NumberLike | ts.TypeFlags.BigIntLike, 'number'],
  [ts.TypeFlags.BooleanLike, 'boolean'],
  [ts.TypeFlags.Null | ts.TypeFlags.Undefined | ts.TypeFlags.Void, 'null'],
  [ts.TypeFlags.Any | ts.TypeFlags.Unknown, 'any'],
];
const CLASSES: ReadonlyMap<string, Kind> = new Map([
  ['Buffer', 'bytes'],
  ['Uint8Array', 'bytes'],
  ['Date', 'date'],
]);

function kindsOf(type: ts.Type, checker: ts.TypeChecker): ReadonlySet<Kind> {
  if (type.isUnion()) {
    return new Set(type.types.flatMap((each) => [...kindsOf(each, checker)]));
  }
  const primitive = PRIMITIVES.find(([flags]) => (type.flags & flags) !== 0);
  if (primitive !== undefined) return new Set([primitive[1]]);
  if (checker.isArrayType(type) || checker.isTupleType(type)) return new Set(['array']);
  const named = CLASSES.get(type.getSymbol()?.name ?? '');
  return new Set([named ?? 'object']);
}

/** The label of the statement that an expression names; undefined if only known at run time. */
function labelOf(expression: ts.Expression, checker: ts.TypeChecker): string | undefined {
  const named = checker.getSymbolAtLocation(expression);
  if (named === undefined) return undefined;
  const isAlias = (named.flags & ts.SymbolFlags.Alias) !== 0;
  const symbol = isAlias ? checker.getAliasedSymbol(named) : named;
  const declaration = symbol.valueDeclaration;
  if (declaration === undefined || !ts.isVariableDeclaration(declaration)) return undefined;
  const { initializer } = declaration;
  if (initializer === undefined || !ts.isCallExpression(initializer)) return undefined;
  const [label] = initializer.arguments;
  const isLabel = initializer.expression.getText() === 'sql' && label !== undefined;
  return isLabel && ts.isStringLiteralLike(label) ? label.text : undefined;
}

function columnsOf(
  node: ts.TypeNode | undefined,
  checker: ts.TypeChecker,
): DeclaredQuery['columns'] {
  if (node === undefined) return undefined;
  const type = checker.getTypeFromTypeNode(node);
  // A record with arbitrary keys declares no column.
  if (type.getStringIndexType() !== undefined) return undefined;
  return new Map(
    checker
      .getPropertiesOfType(type)
      .map((property) => [property.name, kindsOf(checker.getTypeOfSymbol(property), checker)]),
  );
}

function valuesOf(
  node: ts.Expression | undefined,
  checker: ts.TypeChecker,
): DeclaredQuery['values'] {
  if (node === undefined) return [];
  if (!ts.isArrayLiteralExpression(node) || node.elements.some(ts.isSpreadElement)) {
    const type = checker.getTypeAtLocation(node);
    if (!checker.isTupleType(type)) return undefined;
    const members = checker.getTypeArguments(type as ts.TypeReference);
    return members.map((each) => kindsOf(each, checker));
  }
  return node.elements.map((element) => kindsOf(checker.getTypeAtLocation(element), checker));
}

function readQuery(node: ts.Node, checker: ts.TypeChecker): DeclaredQuery | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) {
    return undefined;
  }
  const [statement, values] = node.arguments;
  if (node.expression.name.text !== 'query' || statement === undefined) return undefined;
  const label = labelOf(statement, checker);
  if (label === undefined) return undefined;
  const file = node.getSourceFile();
  const { line } = file.getLineAndCharacterOfPosition(node.getStart());
  return {
    place: `${path.relative(ROOT, file.fileName)}:${line + 1}`,
    label,
    columns: columnsOf(node.typeArguments?.[0], checker),
    values: valuesOf(values, checker),
  };
}

/** Every call of `query` in the source with a named statement, read with the TypeScript compiler. */
export function readDeclaredQueries(): DeclaredQuery[] {
  const configFile = path.join(ROOT, 'tsconfig.json');
  const read = ts.readConfigFile(configFile, (file) => ts.sys.readFile(file));
  const { options } = ts.parseJsonConfigFileContent(read.config, ts.sys, ROOT);
  const files = ts.sys
    .readDirectory(path.join(ROOT, 'src'), ['.ts'])
    .filter((file) => !file.endsWith('.test.ts'));
  const program = ts.createProgram(files, { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const found: DeclaredQuery[] = [];
  const visit = (node: ts.Node): void => {
    const query = readQuery(node, checker);
    if (query !== undefined) found.push(query);
    ts.forEachChild(node, visit);
  };
  for (const file of files) {
    const source = program.getSourceFile(file);
    if (source !== undefined) visit(source);
  }
  return found;
}
