import { isMembers, type Members } from '../lib/members.ts';
import { type ImmutableDeclaration, type ImmutableType } from './immutable-type.ts';
import { isAtLeastRelease } from './release.ts';

/** A node of the compiler's AST in compact JSON, the format of all versions with immutables (from 0.6.5 on). */
type Node = Members;

const ADDRESS_BITS = 160;
const FUNCTION_BYTES = 24;
const WORD_BITS = 256;
const WORD_BYTES = 32;
const DECLARATION_CHARACTERS = 200;

function childrenOf({ nodes }: Node): readonly Node[] {
  return Array.isArray(nodes) ? nodes.filter(isMembers) : [];
}

/** Returns file-level and contract-level declarations by id, which include all immutables, enums and value types. */
function declarationsOf(units: readonly unknown[]): Map<unknown, Node> {
  const declared = units
    .filter(isMembers)
    .flatMap(childrenOf)
    .flatMap((node) => [node, ...childrenOf(node)]);
  return new Map(declared.map((node) => [node['id'], node]));
}

/** Reads a type that its name describes completely: `t_uint8`, `t_address_payable`, `t_contract$_Token_$12`. */
function readElementary(identifier: unknown): ImmutableType | undefined {
  if (typeof identifier !== 'string') return undefined;
  if (/^t_(?:address(?:_payable)?$|contract\$)/.test(identifier)) {
    return { kind: 'unsigned', bits: ADDRESS_BITS };
  }
  if (identifier === 't_bool') return { kind: 'below', bound: 2 };
  if (identifier.startsWith('t_function_external')) {
    return { kind: 'leading', bytes: FUNCTION_BYTES };
  }
  if (identifier.startsWith('t_function_internal')) return { kind: 'code_pointer' };
  const [, name, digits] = /^t_(uint|int|bytes)(\d+)$/.exec(identifier) ?? [];
  const size = Number(digits);
  if (name === 'bytes') {
    return size >= 1 && size <= WORD_BYTES ? { kind: 'leading', bytes: size } : undefined;
  }
  if (name === undefined || size < 8 || size > WORD_BITS || size % 8 !== 0) return undefined;
  return { kind: name === 'uint' ? 'unsigned' : 'signed', bits: size };
}

function identifierOf({ typeDescriptions }: Node): unknown {
  return isMembers(typeDescriptions) ? typeDescriptions['typeIdentifier'] : undefined;
}

function readDeclared(
  declaration: Node,
  declarations: ReadonlyMap<unknown, Node>,
): ImmutableType | undefined {
  const { typeName } = declaration;
  const named = isMembers(typeName)
    ? declarations.get(typeName['referencedDeclaration'])
    : undefined;
  const { nodeType, members, underlyingType } = named ?? {};
  if (nodeType === 'EnumDefinition') {
    return Array.isArray(members) ? { kind: 'below', bound: members.length } : undefined;
  }
  if (nodeType === 'UserDefinedValueTypeDefinition') {
    return isMembers(underlyingType) ? readElementary(identifierOf(underlyingType)) : undefined;
  }
  return readElementary(identifierOf(declaration));
}

/** From this release on, code generators sign-extend signed immutables (solc's bug SOL-2021-3). */
const SIGN_WRITTEN_SINCE = [0, 8, 9] as const;

/** Returns a type with the encoding that a compiler version uses. */
function asWrittenBy(version: string, type: ImmutableType): ImmutableType {
  const release = /^\d+\.\d+\.\d+/.exec(version)?.[0] ?? '';
  if (type.kind !== 'signed' || isAtLeastRelease(release, SIGN_WRITTEN_SINCE)) return type;
  return { ...type, zerosBefore: true };
}

/** Truncated, since a name may be as long as a source. */
function declarationOf({ name, typeDescriptions }: Node): ImmutableDeclaration {
  const declared = isMembers(typeDescriptions) ? typeDescriptions['typeString'] : undefined;
  return {
    ...(typeof name === 'string' && { name: name.slice(0, DECLARATION_CHARACTERS) }),
    ...(typeof declared === 'string' && { declared: declared.slice(0, DECLARATION_CHARACTERS) }),
  };
}

/**
 * Reads the types of immutables, by their ids in `immutableReferences`, from their declarations; this also
 * works via IR. Unknown types are left out.
 * @param units the AST of each source, as far as the compiler wrote it.
 * @param version the compiler's version
 */
export function readImmutableTypes(
  units: readonly unknown[],
  version: string,
): Readonly<Record<string, ImmutableType>> {
  const declarations = declarationsOf(units);
  return Object.fromEntries(
    [...declarations].flatMap(([id, node]) => {
      const isImmutable =
        node['nodeType'] === 'VariableDeclaration' && node['mutability'] === 'immutable';
      const type = isImmutable ? readDeclared(node, declarations) : undefined;
      if (type === undefined) return [];
      return [[String(id), { ...asWrittenBy(version, type), ...declarationOf(node) }] as const];
    }),
  );
}
