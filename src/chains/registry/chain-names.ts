import { distance } from 'fastest-levenshtein';
import { formerNamesOf } from '../../lib/former-chain-names.ts';
import { type RegisteredChain } from './registered-chain.ts';
import { type ChainRegistry } from './registry.ts';

/** Similar names share most letters: comparing letter counts rules out dissimilar ones cheaply. */
const LETTER_KINDS = 32;
/** Minimum length of a text that is compared with parts of names. */
const LEAST_PART = 3;

interface Spelling {
  readonly name: string;
  readonly lower: string;
  readonly letters: Uint16Array;
}

/** Chains indexed by the names that references use, built once for a registry. */
export class ChainNames {
  readonly #byId: ReadonlyMap<number, RegisteredChain>;
  /** Indexes by exact name, and by lower-case name; the first map takes precedence. */
  readonly #tiers: readonly {
    readonly isFolded: boolean;
    readonly chains: ReadonlyMap<string, readonly RegisteredChain[]>;
  }[];
  /** Each name and short name once, those of supported mainnets first. */
  readonly #all: readonly Spelling[];
  readonly #supported: readonly Spelling[];
  readonly #byFormerName: ReadonlyMap<string, string>;
  /** Names of chains by lower-case words for them that are no names: ecosystems and currencies. */
  readonly #byWord: ReadonlyMap<string, string>;

  readonly #measure: (left: string, right: string) => number;

  /** @param measure distance of two texts; tests count its calls */
  constructor({ chains }: Pick<ChainRegistry, 'chains'>, measure = distance) {
    this.#measure = measure;
    this.#byId = new Map(chains.map((chain) => [chain.record.chainId, chain]));
    const tier = (isFolded: boolean, namesOf: (chain: RegisteredChain) => readonly string[]) => ({
      isFolded,
      chains: groupByName(chains, (chain) =>
        isFolded ? namesOf(chain).map((name) => name.toLowerCase()) : namesOf(chain),
      ),
    });
    this.#tiers = [
      tier(false, shortNameOf),
      tier(false, ({ record }) => [record.name]),
      tier(true, namesOf),
    ];
    const ranked = chains.toSorted((left, right) => precedence(right) - precedence(left));
    this.#all = spellingsOf(ranked);
    this.#supported = spellingsOf(ranked.filter(({ record }) => record.supported));
    this.#byWord = firstByWord(ranked, ecosystemOf);
    this.#byFormerName = firstByWord(ranked, ({ record }) => formerNamesOf(record.chainId));
  }

  /** The chain with an id. */
  withId(chainId: number): RegisteredChain | undefined {
    return this.#byId.get(chainId);
  }

  /**
   * The chains that a name refers to, by ascending chainId. An exact short name precedes an exact name, and
   * both precede a match in another case.
   */
  named(name: string): readonly RegisteredChain[] {
    const lower = name.toLowerCase();
    const found = this.#tiers.map(({ isFolded, chains }) => chains.get(isFolded ? lower : name));
    return found.find((chains) => chains !== undefined) ?? [];
  }

  /**
   * Suggests a name or short name: the current name for a former one, a name that starts with the text or has
   * a word that does, the main chain of an ecosystem or currency, or a similar name (a third may differ).
   * Supported mainnets come first, and then low ids, which are the well-known ones.
   */
  nearest(text: string): string | undefined {
    const wanted = text.toLowerCase();
    return (
      this.#byFormerName.get(wanted) ??
      findPart(this.#supported, wanted) ??
      this.#byWord.get(wanted) ??
      findPart(this.#all, wanted) ??
      this.#findSimilar(wanted)
    );
  }

  #findSimilar(wanted: string): string | undefined {
    const letters = countLetters(wanted);
    let best: string | undefined;
    let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
    for (const spelling of this.#all) {
      const { name, lower } = spelling;
      // Distances known to be too large are not computed: each takes microseconds, and there are thousands of
      // names.
      if (Math.abs(wanted.length - lower.length) >= bestDistance) continue;
      if (leastDistance(letters, spelling.letters) >= bestDistance) continue;
      const steps = this.#measure(wanted, lower);
      if (steps < bestDistance) [best, bestDistance] = [name, steps];
    }
    return best;
  }
}

const known = new WeakMap<ChainRegistry, ChainNames>();

/** The names of a registry. */
export function namesOfRegistry(registry: ChainRegistry): ChainNames {
  const names = known.get(registry) ?? new ChainNames(registry);
  known.set(registry, names);
  return names;
}

function shortNameOf({ record }: RegisteredChain): readonly string[] {
  return record.shortName === undefined ? [] : [record.shortName];
}

/** Finds a name that starts with the text, as a word before a part of one, or that has a word that does. */
function findPart(spellings: readonly Spelling[], wanted: string): string | undefined {
  const isPart = wanted.length >= LEAST_PART;
  const fits: readonly ((lower: string) => boolean)[] = [
    (lower) => lower.startsWith(`${wanted} `),
    (lower) => isPart && lower.startsWith(wanted),
    (lower) => isPart && lower.includes(` ${wanted}`),
  ];
  for (const fit of fits) {
    const found = spellings.find(({ lower }) => fit(lower));
    if (found !== undefined) return found.name;
  }
  return undefined;
}

function ecosystemOf({ record: { chain, nativeCurrency } }: RegisteredChain): readonly string[] {
  const words = [chain, nativeCurrency?.symbol, nativeCurrency?.name];
  return words.filter((word) => word !== undefined);
}

/** The name of the first chain that each word belongs to, by the word in lower case. */
function firstByWord(
  ranked: readonly RegisteredChain[],
  wordsOf: (chain: RegisteredChain) => readonly string[],
): ReadonlyMap<string, string> {
  const entries = ranked.flatMap((chain) =>
    wordsOf(chain).map((word) => [word.toLowerCase(), chain.record.name] as const),
  );
  // A later entry of a map replaces an earlier one.
  return new Map(entries.toReversed());
}

/** Rank of a chain among those that share a word: supported mainnets have the highest. */
function precedence({ record, testnet }: RegisteredChain): number {
  return (record.supported ? 2 : 0) + (testnet ? 0 : 1);
}

function namesOf(chain: RegisteredChain): readonly string[] {
  return [...shortNameOf(chain), chain.record.name];
}

/** Names before short names: a suggestion is for people. */
function spellingsOf(chains: readonly RegisteredChain[]): readonly Spelling[] {
  const names = chains.flatMap((chain) => namesOf(chain).toReversed());
  return [...new Set(names)].map((name) => {
    const lower = name.toLowerCase();
    return { name, lower, letters: countLetters(lower) };
  });
}

/** A chain is listed once for each of its names. */
function groupByName(
  chains: readonly RegisteredChain[],
  namesOf: (chain: RegisteredChain) => readonly string[],
): ReadonlyMap<string, readonly RegisteredChain[]> {
  const grouped = new Map<string, RegisteredChain[]>();
  for (const chain of chains) {
    for (const name of new Set(namesOf(chain))) {
      const group = grouped.get(name);
      if (group === undefined) grouped.set(name, [chain]);
      else group.push(chain);
    }
  }
  return grouped;
}

/** Letter counts in buckets; characters of a bucket share the last bits of their codes. */
function countLetters(text: string): Uint16Array {
  const counts = new Uint16Array(LETTER_KINDS);
  for (let index = 0; index < text.length; index += 1) {
    const kind = text.charCodeAt(index) % LETTER_KINDS;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** Each edit removes a letter, adds one, or both: the distance is at least the surplus on one side. */
function leastDistance(left: Uint16Array, right: Uint16Array): number {
  let [missing, added] = [0, 0];
  for (let kind = 0; kind < LETTER_KINDS; kind += 1) {
    const difference = (left[kind] ?? 0) - (right[kind] ?? 0);
    if (difference > 0) missing += difference;
    else added -= difference;
  }
  return Math.max(missing, added);
}
