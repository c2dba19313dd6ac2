import { CID } from 'multiformats/cid';
import { create as createDigest } from 'multiformats/hashes/digest';
import { hashMetadata } from '../bytecode/metadata-hash.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { bytesToHex } from '../lib/hex.ts';
import { keccak256 } from '../lib/keccak.ts';
import { isMembers, type Members, membersOf } from '../lib/members.ts';
import { type Source } from '../repository/repository.ts';
import { splitQualifiedName } from '../solidity/library-id.ts';

/** Description of a Solidity compilation whose metadata is missing. */
export interface KnownCompilation {
  /** As in metadata, for example `0.8.30+commit.73712a01`. */
  readonly version: string;
  readonly fullyQualifiedName: string;
  /** As in the standard JSON input or in metadata. */
  readonly settings: Members;
  /** `abi`, and `devdoc` and `userdoc` if known. */
  readonly artifacts: Members;
  readonly sources: readonly Source[];
}

/** Releases that changed the default EVM version (Solidity documentation, changelog). */
const DEFAULT_EVMS: readonly (readonly [since: readonly [number, number], evm: string])[] = [
  [[8, 31], 'osaka'],
  [[8, 30], 'prague'],
  [[8, 25], 'cancun'],
  [[8, 20], 'shanghai'],
  [[8, 18], 'paris'],
  [[8, 7], 'london'],
  [[8, 5], 'berlin'],
  [[5, 14], 'istanbul'],
  [[5, 5], 'petersburg'],
  [[4, 0], 'byzantium'],
];
const LICENSE = /SPDX-License-Identifier:[ \t]{0,8}([\w.+()\- ]{1,200})/;
const BEYOND_ASCII = /[\u0080-\uffff]/g;

const SHA2_256 = 0x12;
const swarm = (version: 'bzzr0' | 'bzzr1', text: string): string =>
  Buffer.from(hashMetadata(version, text)).toString('hex');
const dweb = (text: string): string => {
  const digest = createDigest(SHA2_256, hashMetadata('ipfs', text));
  return `dweb:/ipfs/${CID.createV0(digest).toString()}`;
};
/** Swarm and IPFS URLs that the compiler lists for a source. */
const URLS = {
  bzzr: (text: string) => [`bzzr://${swarm('bzzr0', text)}`],
  'bzzr and dweb': (text: string) => [`bzzr://${swarm('bzzr0', text)}`, dweb(text)],
  'bzz-raw': (text: string) => [`bzz-raw://${swarm('bzzr1', text)}`, dweb(text)],
};

/** One variant of a part of the document. Which variant a release writes is decided by the hash alone. */
interface Spelling {
  readonly escapes: boolean;
  readonly hasEvm: boolean;
  readonly hasLicenses: boolean;
  readonly hasLibraryPaths: boolean;
  readonly hasDetails: boolean;
  readonly isLiteral: boolean;
  readonly urls: keyof typeof URLS;
}

/**
 * Returns the documents that the compiler may have written for a compilation (Solidity documentation,
 * "Contract Metadata"), the most likely first, at most eight. A document is trustworthy only if the bytecode
 * contains its hash.
 */
export function* deriveMetadata(known: KnownCompilation): Generator<string, void, undefined> {
  const isSince = sinceOf(known.version);
  const sources = known.sources.map((source) => new ListedSource(source));
  for (const spelling of spellingsOf(known, isSince)) {
    const text = canonicalJson({
      compiler: { version: known.version },
      language: 'Solidity',
      output: outputOf(known.artifacts, isSince(6, 11)),
      settings: settingsOf(known, spelling, isSince),
      sources: Object.fromEntries(sources.map((source) => [source.path, source.write(spelling)])),
      version: 1,
    });
    yield spelling.escapes ? text.replace(BEYOND_ASCII, escape) : text;
  }
}

/** Returns whether release 0.minor.patch or later wrote the document. */
type IsSince = (minor: number, patch: number) => boolean;

function sinceOf(version: string): IsSince {
  const [, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number);
  return (since, least) => minor > since || (minor === since && patch >= least);
}

/** Each part has several variants only around the releases that changed it. */
function spellingsOf({ settings }: KnownCompilation, isSince: IsSince): readonly Spelling[] {
  const { metadata, optimizer } = settings;
  const both = (first: boolean, isUnsure: boolean): readonly boolean[] =>
    isUnsure ? [first, !first] : [first];
  const isMinor = (minor: number): boolean => isSince(minor, 0) && !isSince(minor + 1, 0);
  const isLiteral = isMembers(metadata) && metadata['useLiteralContent'] === true;
  let all: readonly Partial<Spelling>[] = [{}];
  const vary = <K extends keyof Spelling>(key: K, values: readonly Spelling[K][]): void => {
    all = all.flatMap((each) => values.map((value) => ({ ...each, [key]: value })));
  };
  vary(
    'urls',
    isSince(6, 0) ? ['bzz-raw'] : isSince(5, 0) ? ['bzz-raw', 'bzzr and dweb', 'bzzr'] : ['bzzr'],
  );
  vary('hasDetails', both(false, isMembers(optimizer) && isMembers(optimizer['details'])));
  vary('escapes', both(isSince(4, 20), !isSince(4, 24)));
  // Old releases do not write the setting.
  vary('isLiteral', both(isLiteral, !isSince(5, 0)));
  vary('hasEvm', both(isSince(4, 21), !isSince(4, 24)));
  vary('hasLicenses', both(isSince(6, 8), isMinor(6)));
  vary('hasLibraryPaths', both(isSince(7, 5), isMinor(7)));
  return all as readonly Spelling[];
}

const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

function outputOf({ abi, devdoc, userdoc }: Members, areNamed: boolean): Members {
  const empty = (kind: string): Members =>
    areNamed ? { kind, methods: {}, version: 1 } : { methods: {} };
  return {
    abi,
    devdoc: isMembers(devdoc) ? devdoc : empty('dev'),
    userdoc: isMembers(userdoc) ? userdoc : empty('user'),
  };
}

function settingsOf(
  { settings, fullyQualifiedName }: KnownCompilation,
  spelling: Spelling,
  isSince: IsSince,
): Members {
  const [path, name] = splitQualifiedName(fullyQualifiedName);
  const { debug, evmVersion, metadata, remappings, viaIR } = settings;
  const { useLiteralContent, bytecodeHash = 'ipfs' } = membersOf(metadata);
  const { revertStrings = 'default' } = membersOf(debug);
  const written = {
    ...(isSince(6, 0) && { bytecodeHash }),
    ...(useLiteralContent === true && isSince(5, 0) && { useLiteralContent }),
  };
  const evm = DEFAULT_EVMS.find(([since]) => isSince(...since))?.[1];
  return {
    compilationTarget: { [path]: name },
    ...(spelling.hasEvm && { evmVersion: evmVersion ?? evm }),
    libraries: librariesOf(settings['libraries'], spelling),
    ...(Object.keys(written).length > 0 && { metadata: written }),
    optimizer: optimizerOf(settings['optimizer'], spelling),
    remappings: remappingsOf(remappings),
    ...(revertStrings !== 'default' && { debug: { revertStrings } }),
    ...(viaIR === true && { viaIR }),
  };
}

/** Converts libraries by path, as in the input, to the names used in metadata. */
function librariesOf(libraries: unknown, { hasLibraryPaths }: Spelling): Members {
  const entries = Object.entries(membersOf(libraries)).flatMap(([key, value]) =>
    isMembers(value)
      ? Object.entries(value).map(([name, address]) => [
          key === '' ? name : `${key}:${name}`,
          address,
        ])
      : [[key, value]],
  ) as [string, unknown][];
  return Object.fromEntries(
    entries.map(([id, address]) => [
      hasLibraryPaths ? id : splitQualifiedName(id)[1],
      typeof address === 'string' ? address.toLowerCase() : address,
    ]),
  );
}

function optimizerOf(optimizer: unknown, { hasDetails }: Spelling): Members {
  const { enabled = false, runs = 200, details } = membersOf(optimizer);
  return hasDetails ? { details, runs } : { enabled, runs };
}

/** Remappings in order, each with its context, which may be empty. */
function remappingsOf(remappings: unknown): readonly string[] {
  const all: unknown[] = Array.isArray(remappings) ? remappings : [];
  const texts = all.filter((each) => typeof each === 'string');
  const whole = texts.map((each) => (/^[^=]*:/.test(each) ? each : `:${each}`));
  return [...new Set(whole)].sort();
}

/** A source as metadata lists it. Hashing dominates the cost, so it is done once for each source. */
class ListedSource {
  readonly path: string;
  readonly #content: string;
  readonly #keccak256: string;
  readonly #license: string | undefined;
  readonly #urls = new Map<string, readonly string[]>();

  constructor({ path, content }: Source) {
    this.path = path;
    this.#content = content;
    this.#keccak256 = bytesToHex(keccak256(Buffer.from(content)));
    this.#license = LICENSE.exec(content)?.[1]?.trim();
  }

  write({ hasLicenses, isLiteral, urls }: Spelling): Members {
    return {
      keccak256: this.#keccak256,
      ...(hasLicenses && this.#license !== undefined && { license: this.#license }),
      ...(isLiteral ? { content: this.#content } : { urls: this.#urlsOf(urls) }),
    };
  }

  #urlsOf(kind: Spelling['urls']): readonly string[] {
    const known = this.#urls.get(kind) ?? URLS[kind](this.#content);
    this.#urls.set(kind, known);
    return known;
  }
}
