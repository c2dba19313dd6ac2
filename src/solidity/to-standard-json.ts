import { type Members } from '../lib/members.ts';
import { type StandardJsonInput } from './standard-json.ts';

/** A standard JSON input as clients submit it. */
interface GivenInput {
  readonly language: string;
  readonly sources: Readonly<Record<string, { readonly content?: string | undefined }>>;
  readonly settings?: Readonly<Record<string, unknown>> | null | undefined;
  readonly interfaces?: unknown;
  readonly storage_layout_overrides?: unknown;
}

/**
 * Converts an input to its queued and compiled form: language, sources and settings, and the additional
 * members that some compilers read.
 */
export function toStandardJson({
  language,
  sources,
  settings,
  interfaces,
  storage_layout_overrides: layouts,
}: GivenInput): StandardJsonInput {
  const texts = Object.entries(sources).map(
    ([path, { content }]) => [path, content === undefined ? {} : { content }] as const,
  );
  return {
    ...{ language, sources: Object.fromEntries(texts), settings: settings ?? {} },
    // As text: Vyper's hashes depend on the order of members, which neither the queue nor the database
    // preserves.
    ...(isGiven(interfaces) && { interfaces: JSON.stringify(interfaces) }),
    ...(isGiven(layouts) && { storage_layout_overrides: JSON.stringify(layouts) }),
  };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const TEXT_MEMBERS = ['interfaces', 'storage_layout_overrides'] as const;

/** Returns the additional members of a queued input as they were submitted. */
export function additionalMembers(input: StandardJsonInput): Members {
  return Object.fromEntries(
    TEXT_MEMBERS.flatMap((name) => {
      const text = input[name];
      return typeof text === 'string' ? [[name, JSON.parse(text) as unknown]] : [];
    }),
  );
}
