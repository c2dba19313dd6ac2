import { type StandardJsonInput } from './standard-json.ts';

/** A standard JSON input as clients send it. */
interface GivenInput {
  readonly language: string;
  readonly sources: Readonly<Record<string, { readonly content?: string | undefined }>>;
  readonly settings?: Readonly<Record<string, unknown>> | null | undefined;
  readonly interfaces?: unknown;
  readonly storage_layout_overrides?: unknown;
}

/** An input as it waits and is compiled: of language, sources and settings, and of what some compilers read beside them. */
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
    // As text: hashes of Vyper are over the order of members, which neither the queue nor the database keeps.
    ...(isGiven(interfaces) && { interfaces: JSON.stringify(interfaces) }),
    ...(isGiven(layouts) && { storage_layout_overrides: JSON.stringify(layouts) }),
  };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
