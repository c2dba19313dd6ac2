import { FullmatchError } from '../../../errors.ts';
import { printableText } from '../../../lib/printable-text.ts';
import { signaturesOf } from '../../../solidity/abi-signatures.ts';
import type { ContractSection, ContractSections } from '../../../repository/repository.ts';
import {
  renderCode,
  renderCompilation,
  renderDeployment,
  renderMetadata,
  renderSources,
} from './render-contract.ts';
import { renderValues } from './render-values.ts';

/** A selectable field of a contract: the sections that it needs, and its rendering. */
interface Field {
  readonly parts: readonly ContractSection[];
  /** Absent if the whole field is composed from others (contract-text.ts). */
  readonly render?: (parts: Partial<ContractSections>) => unknown;
  /** The compiler's name for the field, if it is an artifact. */
  readonly artifact?: string;
  /** Whether it is read from the chain for each response, and only if named explicitly. */
  readonly isLive?: boolean;
  /** Set if the field is an object whose members can be selected individually. */
  readonly members?: readonly string[];
}

/** In every response; not selectable. */
const FIXED_FIELDS = new Set(['match', 'chainId', 'address']);
/** In every response unless omitted by name. */
const USUAL_FIELDS = new Set(['creationMatch', 'runtimeMatch', 'verifiedAt', 'matchId']);

const CODE_MEMBERS = [
  'onchainBytecode',
  'recompiledBytecode',
  'sourceMap',
  'linkReferences',
  'cborAuxdata',
  'transformations',
  'transformationValues',
  'unprovenValues',
];

function artifact(name: string): Field {
  return { parts: ['artifacts'], artifact: name };
}

/** Fields of a contract by their names in the verification API v2. */
export const CONTRACT_FIELDS: ReadonlyMap<string, Field> = new Map<string, Field>([
  [
    'creationBytecode',
    {
      parts: ['creationCode'],
      render: ({ creationCode }) => renderCode(creationCode, 'creation'),
      members: CODE_MEMBERS,
    },
  ],
  [
    'runtimeBytecode',
    {
      parts: ['runtimeCode'],
      render: ({ runtimeCode }) => renderCode(runtimeCode, 'runtime'),
      members: [...CODE_MEMBERS, 'immutableReferences'],
    },
  ],
  [
    'deployment',
    {
      parts: ['deployment'],
      render: renderDeployment,
      members: ['transactionHash', 'blockNumber', 'transactionIndex', 'deployer', 'unprovenValues'],
    },
  ],
  ['sources', { parts: ['sources'], render: renderSources }],
  [
    'compilation',
    {
      parts: ['compilation'],
      render: renderCompilation,
      members: [
        'language',
        'compiler',
        'compilerVersion',
        'compilerSettings',
        'name',
        'fullyQualifiedName',
      ],
    },
  ],
  ['abi', artifact('abi')],
  [
    'signatures',
    {
      parts: ['artifacts'],
      render: ({ artifacts }) => signaturesOf(artifacts?.['abi'], artifacts?.['methodIdentifiers']),
      members: ['function', 'event', 'error'],
    },
  ],
  [
    'values',
    {
      parts: ['compilation', 'artifacts', 'creationCode', 'runtimeCode'],
      render: renderValues,
      members: ['constructorArguments', 'immutables', 'libraries'],
    },
  ],
  ['metadata', { parts: ['metadata'], render: renderMetadata }],
  ['storageLayout', artifact('storageLayout')],
  ['transientStorageLayout', artifact('transientStorageLayout')],
  ['userdoc', artifact('userdoc')],
  ['devdoc', artifact('devdoc')],
  ['sourceIds', artifact('sources')],
  ['stdJsonInput', { parts: ['compilation', 'sources', 'artifacts'] }],
  [
    'stdJsonOutput',
    { parts: ['compilation', 'artifacts', 'metadata', 'creationCode', 'runtimeCode'] },
  ],
  [
    'proxyResolution',
    { parts: [], isLive: true, members: ['isProxy', 'proxyType', 'implementations'] },
  ],
]);

/** The fields that a client selected. */
export interface FieldSelection {
  /** Selected fields, each with its selected members; undefined selects the whole field. */
  readonly chosen: ReadonlyMap<string, ReadonlySet<string> | undefined>;
  /** Default fields that are omitted. */
  readonly omitted: ReadonlySet<string>;
  /** Sections that must be read. */
  readonly parts: readonly ContractSection[];
}

const ALL_FIELDS = selectAllBut([]);

/**
 * Parses `fields` or `omit`: comma-separated names of fields, or of single members such as
 * `compilation.name`. `fields=all` selects every stored field, and `omit` every stored field except those
 * named.
 * @throws FullmatchError `invalid_parameter` for an unknown field, for one that cannot be selected, and for
 * both parameters at once
 */
export function parseSelection(query: {
  readonly fields?: string | undefined;
  readonly omit?: string | undefined;
}): FieldSelection {
  const { fields, omit } = query;
  if (fields !== undefined && omit !== undefined) {
    throw invalid('fields', 'fields and omit exclude each other; send one of them');
  }
  if (omit !== undefined) return selectAllBut(parseNames('omit', omit));
  if (fields === 'all') return ALL_FIELDS;
  return selectNamed(parseNames('fields', fields));
}

interface FieldName {
  readonly name: string;
  readonly member?: string;
}

/**
 * Selects fields in the order of the table, whatever the order of the names: the same selection gives the
 * same response.
 */
function selectNamed(names: readonly FieldName[]): FieldSelection {
  const chosen = new Map<string, Set<string> | undefined>();
  for (const [name, field] of CONTRACT_FIELDS) {
    const requested = new Set(
      names.filter((each) => each.name === name).map(({ member }) => member),
    );
    if (requested.size === 0) continue;
    const members = field.members?.filter((member) => requested.has(member));
    chosen.set(name, requested.has(undefined) ? undefined : new Set(members));
  }
  return { chosen, omitted: new Set(), parts: partsOf(chosen.keys()) };
}

function selectAllBut(names: readonly FieldName[]): FieldSelection {
  const whole = new Set(names.filter(({ member }) => member === undefined).map(({ name }) => name));
  const chosen = new Map<string, Set<string> | undefined>();
  for (const [name, field] of CONTRACT_FIELDS) {
    if (whole.has(name) || field.isLive === true) continue;
    const dropped = new Set(names.filter((each) => each.name === name).map(({ member }) => member));
    const kept = field.members?.filter((member) => !dropped.has(member));
    chosen.set(name, dropped.size === 0 ? undefined : new Set(kept));
  }
  const omitted = new Set([...USUAL_FIELDS].filter((name) => whole.has(name)));
  return { chosen, omitted, parts: partsOf(chosen.keys()) };
}

function partsOf(names: Iterable<string>): ContractSection[] {
  return [...new Set(Array.from(names, (name) => CONTRACT_FIELDS.get(name)?.parts ?? []).flat())];
}

function parseNames(parameter: 'fields' | 'omit', list: string | undefined): FieldName[] {
  if (list === undefined) return [];
  return list.split(',').map((text) => {
    const [name = '', member, ...deeper] = text.split('.');
    if (FIXED_FIELDS.has(name)) {
      throw invalid(parameter, `${name} is in every answer and cannot be chosen`);
    }
    if (USUAL_FIELDS.has(name) && member === undefined) return { name };
    const field = CONTRACT_FIELDS.get(name);
    const isKnown =
      field !== undefined &&
      deeper.length === 0 &&
      (member === undefined || field.members?.includes(member) === true);
    if (!isKnown) throw invalid(parameter, `'${printableText(text, 100)}' is not a field`);
    return member === undefined ? { name } : { name, member };
  });
}

function invalid(parameter: string, fault: string): FullmatchError {
  return new FullmatchError(
    'invalid_parameter',
    `Parameter ${parameter}: ${fault}. The fields are ${[...CONTRACT_FIELDS.keys()].join(', ')}.`,
    { details: { parameter } },
  );
}
