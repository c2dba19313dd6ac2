import { FullmatchError } from '../../errors.ts';
import { printableText } from '../../lib/printable-text.ts';
import { namesOfRegistry } from './chain-names.ts';
import { isChainId } from './list-record.ts';
import { type RegisteredChain } from './registered-chain.ts';
import { type ChainRegistry } from './registry.ts';

/** Longer than any name in the public list (the longest of 2026 has 54 characters). */
const REFERENCE_MAX_CHARACTERS = 100;
const MAX_CANDIDATES = 5;

const DECIMAL = /^\d+$/;
const HEXADECIMAL = /^0x[0-9a-f]+$/i;
/** CAIP-2: the namespace of EVM chains and a decimal id. */
const CAIP2 = /^eip155:(.*)$/;

function invalid(ref: string, fault: string): FullmatchError {
  return new FullmatchError(
    'invalid_parameter',
    `The chain reference '${printableText(ref, REFERENCE_MAX_CHARACTERS)}' ${fault}. Write 1, 0x1, eip155:1, a short name such as eth, or a full name.`,
    { details: { parameter: 'chain' } },
  );
}

/** The id that a reference spells, or undefined if it is a name. */
function parseId(ref: string): number | undefined {
  const digits = CAIP2.exec(ref)?.[1];
  const spelled = digits ?? ref;
  const isNumber = DECIMAL.test(spelled) || (digits === undefined && HEXADECIMAL.test(spelled));
  if (!isNumber) {
    if (digits !== undefined) throw invalid(ref, 'has no decimal id after eip155:');
    return undefined;
  }
  if (DECIMAL.test(spelled) && spelled.startsWith('0')) {
    throw invalid(ref, 'is not a canonical chain id: ids start at 1 and have no leading zero');
  }
  const chainId = Number(spelled);
  if (!isChainId(chainId)) throw invalid(ref, 'is not a chain id: ids are 1 to 2^53-1');
  return chainId;
}

function describe({ record }: RegisteredChain): string {
  const shortName = record.shortName === undefined ? '' : ` (${printableText(record.shortName)})`;
  return `${record.chainId} ${printableText(record.name)}${shortName}`;
}

function notFound(ref: string, suggestion: string | undefined): FullmatchError {
  const hint =
    suggestion === undefined
      ? '. The operator adds chains in fullmatch.yaml, under chains.'
      : `; did you mean '${printableText(suggestion)}'?`;
  const shown = printableText(ref, REFERENCE_MAX_CHARACTERS);
  return new FullmatchError('chain_not_found', `No chain '${shown}' is in the registry${hint}`, {
    details: { reference: shown, ...(suggestion === undefined ? {} : { suggestion }) },
  });
}

function single(ref: string, found: readonly RegisteredChain[]): RegisteredChain | undefined {
  if (found.length <= 1) return found[0];
  const candidates = found.slice(0, MAX_CANDIDATES).map(describe);
  const more = found.length > candidates.length ? ', …' : '';
  throw new FullmatchError(
    'ambiguous_chain_reference',
    `The chain reference '${printableText(ref)}' fits ${found.length} chains: ${candidates.join(', ')}${more}. Use an id.`,
    { details: { reference: ref, chainIds: found.map(({ record }) => record.chainId) } },
  );
}

/**
 * Resolves a chain reference: a decimal or hexadecimal id, a CAIP-2 id (`eip155:1`), a short name or a full
 * name. An exact short name precedes an exact name, and both precede a match in another case.
 * @throws FullmatchError invalid_parameter for a malformed reference, chain_not_found (with a suggestion if
 * one is close), ambiguous_chain_reference if it matches several chains
 */
export function findChain(registry: ChainRegistry, ref: string): RegisteredChain {
  const wanted = ref.trim();
  if (wanted === '') throw invalid(ref, 'is empty');
  if (wanted.length > REFERENCE_MAX_CHARACTERS) throw invalid(ref, 'is too long');
  const chainId = parseId(wanted);
  const names = namesOfRegistry(registry);
  const chain = chainId === undefined ? single(wanted, names.named(wanted)) : names.withId(chainId);
  if (chain !== undefined) return chain;
  throw notFound(wanted, chainId === undefined ? names.nearest(wanted) : undefined);
}
