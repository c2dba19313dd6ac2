import { isMembers } from '../lib/members.ts';

/** Members of `settings.metadata`, which decide what metadata solc writes into the bytecode. */
export interface MetadataChange {
  readonly bytecodeHash?: 'ipfs' | 'bzzr1' | 'none';
  readonly appendCBOR?: boolean;
}

/** Compiler settings that differ from the submitted ones; the others are as submitted. */
export interface SettingChanges {
  /** The release to compile with, such as `0.8.37`. */
  readonly compilerVersion?: string;
  readonly optimizer?: { readonly enabled: boolean; readonly runs?: number };
  readonly evmVersion?: string;
  readonly viaIR?: boolean;
  /** Vyper's optimization mode; a boolean before 0.3.10. */
  readonly optimize?: string | boolean;
  readonly metadata?: MetadataChange;
}

/** Returns the changes in the terms of the compiler input: `optimizer.enabled: true, optimizer.runs: 1000`. */
export function formatChanges({
  compilerVersion,
  optimizer,
  metadata,
  ...others
}: SettingChanges): string {
  const members: readonly (readonly [string, unknown])[] = [
    ['compilerVersion', compilerVersion],
    ['optimizer.enabled', optimizer?.enabled],
    ['optimizer.runs', optimizer?.runs],
    ...Object.entries(others),
    ['metadata.bytecodeHash', metadata?.bytecodeHash],
    ['metadata.appendCBOR', metadata?.appendCBOR],
  ];
  return members
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ');
}

/** Returns the changes in words: `the optimizer on, 1,000 runs and EVM version paris`. */
export function describeChanges({
  compilerVersion,
  optimizer,
  evmVersion,
  viaIR,
  optimize,
  metadata,
}: SettingChanges): string {
  const parts = [
    compilerVersion !== undefined && `compiler ${compilerVersion}`,
    optimizer?.enabled === false && 'the optimizer off',
    optimizer?.enabled === true && `the optimizer on${runsOf(optimizer)}`,
    evmVersion !== undefined && `EVM version ${evmVersion}`,
    viaIR !== undefined && (viaIR ? 'viaIR on' : 'viaIR off'),
    optimize !== undefined && `optimize: ${optimize}`,
    metadata !== undefined && describeMetadata(metadata),
  ].filter((part) => part !== false);
  const last = parts.pop() ?? '';
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
}

const METADATA_HASHES: Readonly<Record<NonNullable<MetadataChange['bytecodeHash']>, string>> = {
  ipfs: 'an IPFS hash of the metadata',
  bzzr1: 'a Swarm hash of the metadata',
  none: 'metadata without a hash',
};

const describeMetadata = ({ bytecodeHash = 'ipfs', appendCBOR }: MetadataChange): string =>
  appendCBOR === false ? 'no metadata' : METADATA_HASHES[bytecodeHash];

const runsOf = ({ runs }: { readonly runs?: number }): string =>
  runs === undefined ? '' : ` (${runs.toLocaleString('en')} ${runs === 1 ? 'run' : 'runs'})`;

/** Returns settings of a standard JSON input with the changes, except for the compiler version. */
export function withChanges(
  settings: Readonly<Record<string, unknown>>,
  { optimizer, evmVersion, viaIR, optimize, metadata }: SettingChanges,
): Readonly<Record<string, unknown>> {
  const { optimizer: given, metadata: stated } = settings;
  return {
    ...settings,
    ...(optimizer && { optimizer: { ...(isMembers(given) && given), ...optimizer } }),
    ...(evmVersion !== undefined && { evmVersion }),
    ...(viaIR !== undefined && { viaIR }),
    ...(optimize !== undefined && { optimize }),
    ...(metadata && { metadata: { ...(isMembers(stated) && stated), ...metadata } }),
  };
}
