import { canonicalJson } from '../lib/canonical-json.ts';
import { isMembers, type Members, membersOf } from '../lib/members.ts';

/** Settings that decide the bytecode. The metadata omits the defaults of some. */
const DECISIVE = new Set([
  ...['debug', 'eofVersion', 'evmVersion', 'experimental', 'libraries', 'metadata'],
  ...['optimizer', 'remappings', 'viaIR', 'viaSSACFG'],
]);

/**
 * Returns the settings of a full match: what decides the bytecode is as in the metadata, whose hash proves it, and
 * the rest as delivered. Before Solidity 0.7.5 the metadata lists libraries without their paths, which then stay
 * as delivered.
 * @param proven settings of the metadata, in the form of the standard JSON input
 */
export function withProvenSettings(delivered: Members, proven: Members): Members {
  const rest = Object.entries(delivered).filter(([key]) => !DECISIVE.has(key));
  const { libraries } = delivered;
  const isSame = canonicalJson(addressesOf(libraries)) === canonicalJson(pathlessOf(proven));
  return {
    ...Object.fromEntries(rest),
    ...proven,
    ...(isSame && isMembers(libraries) && { libraries }),
  };
}

/**
 * Returns the settings with which the compiler writes metadata with literal sources: before Solidity 0.5 it does
 * not list that setting among them.
 */
export function withLiteralContent(settings: Members, isLiteral: boolean): Members {
  const { metadata } = settings;
  if (!isLiteral || (isMembers(metadata) && metadata['useLiteralContent'] === true))
    return settings;
  return {
    ...settings,
    metadata: { ...(isMembers(metadata) && metadata), useLiteralContent: true },
  };
}

/** Addresses of libraries that the metadata lists without their paths; undefined if it lists paths. */
function pathlessOf({ libraries }: Members): readonly string[] | undefined {
  const isPathless = isMembers(libraries) && Object.keys(libraries).join() === '';
  return isPathless ? addressesOf(libraries) : undefined;
}

/** Addresses of libraries by name alone, in a fixed order. */
function addressesOf(libraries: unknown): readonly string[] {
  return Object.values(membersOf(libraries))
    .flatMap((named) => Object.entries(membersOf(named)))
    .map(([name, address]) => `${name} ${String(address).toLowerCase()}`)
    .sort();
}
