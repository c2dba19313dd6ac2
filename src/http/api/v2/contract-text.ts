import { splitQualifiedName } from '../../../solidity/library-id.ts';
import { isMembers } from '../../../lib/members.ts';
import { bytesToHex } from '../../../lib/hex.ts';
import type {
  ContractMatch,
  ContractSections,
  StoredCode,
} from '../../../repository/repository.ts';
import { type ResponseOf } from '../../answer.ts';
import { type contractSchema } from './contract-schema.ts';
import { CONTRACT_FIELDS, type FieldSelection } from './contract-fields.ts';
import { LANGUAGE_NAMES, renderMinimal, renderSources } from './render-contract.ts';

/** JSON in pieces: shared parts are not copied, and the whole is never held as one string in addition to its bytes. */
type Pieces = readonly string[];

/** JSON by member name; `undefined` members are omitted, as in JSON.stringify. */
type MemberPieces = Readonly<Record<string, Pieces | undefined>>;

/**
 * Renders a contract as JSON, in pieces. Parts that several fields share, such as the sources, are serialized
 * once: for most records that halves the work.
 * @param live values read from the chain for this response, by field name
 */
export function renderContract(
  match: ContractMatch,
  parts: Partial<ContractSections>,
  { chosen, omitted }: Omit<FieldSelection, 'parts'>,
  live: Readonly<Record<string, unknown>> = {},
): Pieces {
  const texts = new ContractTexts(parts);
  const fields = [...chosen].flatMap(([name, members]) => {
    const value = (): unknown => live[name] ?? CONTRACT_FIELDS.get(name)?.render?.(parts) ?? null;
    const isWhole = members === undefined && live[name] === undefined;
    const pieces = isWhole ? texts.field(name) : [JSON.stringify(pick(value(), members))];
    return [`,${JSON.stringify(name)}:`, ...pieces];
  });
  return [JSON.stringify(renderDefaultMembers(match, omitted)).slice(0, -1), ...fields, '}'];
}

/** Returns the members that every response has, except the omitted ones. */
export function renderDefaultMembers(
  contract: ContractMatch,
  omitted: ReadonlySet<string>,
): ResponseOf<typeof contractSchema> {
  const { match, chainId, address, ...usual } = renderMinimal(contract);
  const kept = Object.entries(usual).filter(([name]) => !omitted.has(name));
  return { match, chainId, address, ...Object.fromEntries(kept) };
}

function pick(value: unknown, members: ReadonlySet<string> | undefined): unknown {
  if (typeof value !== 'object' || value === null || members === undefined) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => members.has(name)));
}

const NULL: Pieces = ['null'];

class ContractTexts {
  readonly #parts: Partial<ContractSections>;
  readonly #texts = new Map<string, Pieces>();

  constructor(parts: Partial<ContractSections>) {
    this.#parts = parts;
  }

  /** Returns the JSON of a whole field. */
  field(name: string): Pieces {
    if (name === 'stdJsonInput') return this.#standardJsonInput();
    if (name === 'stdJsonOutput') return this.#standardJsonOutput();
    const artifact = CONTRACT_FIELDS.get(name)?.artifact;
    if (artifact !== undefined) return this.#artifact(artifact) ?? NULL;
    if (name === 'sources') return this.#sources();
    return toPieces(CONTRACT_FIELDS.get(name)?.render?.(this.#parts) ?? null);
  }

  #sources(): Pieces {
    return this.#once('sources', () => renderSources(this.#parts)) ?? ['{}'];
  }

  #artifact(name: string): Pieces | undefined {
    return this.#once(`artifact ${name}`, () => this.#parts.artifacts?.[name]);
  }

  /** The compiler's input: it compiles to the same contract again. */
  #standardJsonInput(): Pieces {
    const { compilation } = this.#parts;
    if (compilation === undefined) return NULL;
    return joinMembers({
      language: toPieces(LANGUAGE_NAMES[compilation.language] ?? compilation.language),
      sources: this.#sources(),
      settings: toPieces(compilation.settings),
      ...this.#moreInput(),
    });
  }

  /** Further input members that the compiler of a language reads. */
  #moreInput(): MemberPieces {
    const more = this.#parts.artifacts?.['input'];
    if (!isMembers(more)) return {};
    return Object.fromEntries(Object.entries(more).map(([name, text]) => [name, [String(text)]]));
  }

  /** The compiler's output for this contract, as far as it is known. */
  #standardJsonOutput(): Pieces {
    const { compilation, artifacts = {}, metadata, creationCode, runtimeCode } = this.#parts;
    if (compilation === undefined) return NULL;
    const { name, fullyQualifiedName } = compilation;
    const [path] = splitQualifiedName(fullyQualifiedName);
    const ofContract = Object.keys(artifacts)
      .filter((key) => key !== 'sources' && key !== 'input')
      .map((key) => [key, this.#artifact(key) ?? NULL] as const);
    const evm = {
      bytecode: renderOutputCode(creationCode),
      deployedBytecode: renderOutputCode(runtimeCode),
    };
    const contract = joinMembers(
      Object.fromEntries([
        ...ofContract,
        ['metadata', typeof metadata === 'string' ? toPieces(metadata) : undefined],
        ['evm', toPieces(evm)],
      ]),
    );
    const contracts = joinMembers({ [path]: joinMembers({ [name]: contract }) });
    const hasSources = Object.hasOwn(artifacts, 'sources');
    const sources = hasSources ? (this.#artifact('sources') ?? NULL) : undefined;
    return joinMembers({ sources, contracts });
  }

  #once(key: string, value: () => unknown): Pieces | undefined {
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const text = JSON.stringify(value()) as string | undefined;
    if (text === undefined) return undefined;
    const pieces = [text];
    this.#texts.set(key, pieces);
    return pieces;
  }
}

/** Output selection by language for inputs without one of their own. */
const USUAL_OUTPUT: Readonly<Record<string, unknown>> = {
  vyper: { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
};
const OUTPUT = {
  '*': { '*': ['abi', 'metadata', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
};

/** Renders the standard JSON input of a contract in pieces, with an output selection that includes the bytecode. */
export function renderStandardInput(parts: Partial<ContractSections>): Pieces {
  const { compilation } = parts;
  if (compilation === undefined) return NULL;
  const outputSelection = USUAL_OUTPUT[compilation.language] ?? OUTPUT;
  const settings = { outputSelection, ...compilation.settings };
  return new ContractTexts({ ...parts, compilation: { ...compilation, settings } }).field(
    'stdJsonInput',
  );
}

function joinMembers(members: MemberPieces): Pieces {
  const pieces = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [',', `${JSON.stringify(name)}:`, ...value],
  );
  return ['{', ...pieces.slice(1), '}'];
}

function toPieces(value: unknown): Pieces {
  return [JSON.stringify(value)];
}

function renderOutputCode(code: StoredCode | undefined): object {
  const { recompiled, artifacts = {} } = code ?? {};
  const { sourceMap, linkReferences, immutableReferences } = artifacts;
  return {
    object: recompiled === undefined ? undefined : bytesToHex(recompiled).slice(2),
    sourceMap,
    linkReferences,
    immutableReferences,
  };
}
