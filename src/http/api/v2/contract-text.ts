import { splitQualifiedName } from '../../../solidity/library-id.ts';
import { isMembers } from '../../../lib/members.ts';
import { bytesToHex } from '../../../lib/hex.ts';
import type {
  ContractMatch,
  ContractSections,
  StoredCode,
} from '../../../repository/repository.ts';
import { type AnswerOf } from '../../answer.ts';
import { type contractSchema } from './contract-schema.ts';
import { CONTRACT_FIELDS, type FieldSelection } from './contract-fields.ts';
import { LANGUAGE_NAMES, renderMinimal, renderSources } from './render-contract.ts';

/** JSON by the names of members; `undefined` members are left out, as in JSON.stringify. */
type MemberTexts = Readonly<Record<string, string | undefined>>;

/**
 * A contract as JSON, in pieces. What several fields show, such as the sources, is written once and used in each: for
 * most records that is half of the work.
 * @param live what was read from the chain for this answer, by the names of fields
 */
export function renderContract(
  match: ContractMatch,
  parts: Partial<ContractSections>,
  { chosen, omitted }: Omit<FieldSelection, 'parts'>,
  live: Readonly<Record<string, unknown>> = {},
): readonly string[] {
  const texts = new ContractTexts(parts);
  const fields = [...chosen].flatMap(([name, members]) => {
    const value = (): unknown => live[name] ?? CONTRACT_FIELDS.get(name)?.render?.(parts) ?? null;
    const isWhole = members === undefined && live[name] === undefined;
    const text = isWhole ? texts.field(name) : JSON.stringify(pick(value(), members));
    return [`,${JSON.stringify(name)}:`, text];
  });
  return [JSON.stringify(renderUsual(match, omitted)).slice(0, -1), ...fields, '}'];
}

/** The members that every answer has, but for those that are left out. */
export function renderUsual(
  contract: ContractMatch,
  omitted: ReadonlySet<string>,
): AnswerOf<typeof contractSchema> {
  const { match, chainId, address, ...usual } = renderMinimal(contract);
  const kept = Object.entries(usual).filter(([name]) => !omitted.has(name));
  return { match, chainId, address, ...Object.fromEntries(kept) };
}

function pick(value: unknown, members: ReadonlySet<string> | undefined): unknown {
  if (typeof value !== 'object' || value === null || members === undefined) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => members.has(name)));
}

class ContractTexts {
  readonly #parts: Partial<ContractSections>;
  readonly #texts = new Map<string, string>();

  constructor(parts: Partial<ContractSections>) {
    this.#parts = parts;
  }

  /** The JSON of a whole field. */
  field(name: string): string {
    if (name === 'stdJsonInput') return this.#standardJsonInput();
    if (name === 'stdJsonOutput') return this.#standardJsonOutput();
    const artifact = CONTRACT_FIELDS.get(name)?.artifact;
    if (artifact !== undefined) return this.#artifact(artifact) ?? 'null';
    if (name === 'sources') return this.#sources();
    return JSON.stringify(CONTRACT_FIELDS.get(name)?.render?.(this.#parts) ?? null);
  }

  #sources(): string {
    return this.#once('sources', () => renderSources(this.#parts)) ?? '{}';
  }

  #artifact(name: string): string | undefined {
    return this.#once(`artifact ${name}`, () => this.#parts.artifacts?.[name]);
  }

  /** What the compiler was given: it compiles again to the same contract. */
  #standardJsonInput(): string {
    const { compilation } = this.#parts;
    if (compilation === undefined) return 'null';
    return joinMembers({
      language: JSON.stringify(LANGUAGE_NAMES[compilation.language] ?? compilation.language),
      sources: this.#sources(),
      settings: JSON.stringify(compilation.settings),
      ...this.#moreInput(),
    });
  }

  /** What the compiler of a language reads beside these. */
  #moreInput(): Readonly<Record<string, string>> {
    const more = this.#parts.artifacts?.['input'];
    if (!isMembers(more)) return {};
    return Object.fromEntries(Object.entries(more).map(([name, text]) => [name, String(text)]));
  }

  /** What the compiler said of this contract, as far as it is known. */
  #standardJsonOutput(): string {
    const { compilation, artifacts = {}, metadata, creationCode, runtimeCode } = this.#parts;
    if (compilation === undefined) return 'null';
    const { name, fullyQualifiedName } = compilation;
    const [path] = splitQualifiedName(fullyQualifiedName);
    const ofContract = Object.keys(artifacts)
      .filter((key) => key !== 'sources' && key !== 'input')
      .map((key) => [key, this.#artifact(key) ?? 'null'] as const);
    const evm = {
      bytecode: renderOutputCode(creationCode),
      deployedBytecode: renderOutputCode(runtimeCode),
    };
    const contract = joinMembers(
      Object.fromEntries([
        ...ofContract,
        ['metadata', typeof metadata === 'string' ? JSON.stringify(metadata) : undefined],
        ['evm', JSON.stringify(evm)],
      ]),
    );
    const contracts = `{${JSON.stringify(path)}:{${JSON.stringify(name)}:${contract}}}`;
    const hasSources = Object.hasOwn(artifacts, 'sources');
    const sources = hasSources ? (this.#artifact('sources') ?? 'null') : undefined;
    return joinMembers({ sources, contracts });
  }

  #once(key: string, value: () => unknown): string | undefined {
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const text = JSON.stringify(value()) as string | undefined;
    if (text !== undefined) this.#texts.set(key, text);
    return text;
  }
}

/** What a compiler makes of an input that does not say it. */
const USUAL_OUTPUT: Readonly<Record<string, unknown>> = {
  vyper: { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
};
const OUTPUT = {
  '*': { '*': ['abi', 'metadata', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
};

/** The standard JSON input of a contract as its compiler takes it: it asks for the codes, too. */
export function renderStandardInput(parts: Partial<ContractSections>): string {
  const { compilation } = parts;
  if (compilation === undefined) return 'null';
  const outputSelection = USUAL_OUTPUT[compilation.language] ?? OUTPUT;
  const settings = { outputSelection, ...compilation.settings };
  return new ContractTexts({ ...parts, compilation: { ...compilation, settings } }).field(
    'stdJsonInput',
  );
}

function joinMembers(members: MemberTexts): string {
  const texts = Object.entries(members).flatMap(([name, text]) =>
    text === undefined ? [] : [`${JSON.stringify(name)}:${text}`],
  );
  return `{${texts.join(',')}}`;
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
