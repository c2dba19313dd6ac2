import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checksumAddress } from '../../src/lib/hex.ts';
import { type RefusalReason } from '../../src/importer/refusal.ts';
import { compileExamples } from './example-contracts.ts';
import { contractFolder, exampleAddress, writeContract } from './example-tree.ts';

/** An invalid entry and the expected rejection by an import. */
export interface BadEntry {
  readonly kind: BadEntryKind;
  /** Relative to the folder `contracts`. */
  readonly path: string;
  readonly reason: RefusalReason;
}

const BAD_CHAIN = 424242;
const BAD_NUMBERS = 900_000;

interface BadKind {
  readonly reason: RefusalReason;
  /** The chain folder, if it is not the fault itself. */
  readonly chain?: string;
  /** The entry's path ends at the chain folder, which is rejected as a whole. */
  readonly refusesChain?: true;
  /** Changes the spelling of the address. */
  readonly spell?: (address: string) => string;
  /** Damages the valid folder of a contract (Greeter, layout V1). */
  readonly damage?: (folder: string) => Promise<void>;
}

const SOURCE = join('sources', 'contracts', 'Greeter.sol');
const swapCase = (address: string): string =>
  address.replace(/[a-f]|[A-F]/g, (digit) =>
    digit === digit.toUpperCase() ? digit.toLowerCase() : digit.toUpperCase(),
  );

/** Each kind of invalid entry: how to create it and why it is rejected. */
export const BAD_KINDS = {
  leading_zero_chain: { reason: 'invalid_chain_id', chain: '01', refusesChain: true },
  hex_chain: { reason: 'invalid_chain_id', chain: '0x1', refusesChain: true },
  huge_chain: { reason: 'invalid_chain_id', chain: '9007199254740992', refusesChain: true },
  short_address: { reason: 'invalid_address', spell: (address) => address.slice(0, -1) },
  wrong_checksum: { reason: 'wrong_checksum', spell: swapCase },
  missing_metadata: {
    reason: 'missing_metadata',
    damage: (folder) => rm(join(folder, 'metadata.json')),
  },
  broken_metadata: {
    reason: 'broken_metadata',
    damage: (folder) => truncate(join(folder, 'metadata.json'), 100),
  },
  changed_source: {
    reason: 'wrong_source_hash',
    damage: (folder) => appendFile(join(folder, SOURCE), ' '),
  },
  missing_source: { reason: 'missing_source', damage: (folder) => rm(join(folder, SOURCE)) },
  invalid_utf8: {
    reason: 'invalid_utf8',
    damage: (folder) => writeFile(join(folder, 'metadata.json'), Buffer.from([0x7b, 0xff, 0x7d])),
  },
  source_is_symlink: {
    reason: 'symlink',
    damage: async (folder) => {
      await rename(join(folder, SOURCE), join(folder, 'real.sol'));
      await symlink(join(folder, 'real.sol'), join(folder, SOURCE));
    },
  },
  sources_is_symlink: {
    reason: 'symlink',
    damage: async (folder) => {
      await rename(join(folder, 'sources'), join(folder, 'elsewhere'));
      await symlink('elsewhere', join(folder, 'sources'));
    },
  },
  contract_is_symlink: {
    reason: 'symlink',
    damage: async (folder) => {
      await rm(folder, { recursive: true });
      await symlink('/etc', folder);
    },
  },
  translation_leaves_tree: {
    reason: 'path_outside_tree',
    damage: (folder) =>
      writeFile(
        join(folder, 'path-translation.json'),
        JSON.stringify({ 'contracts/Greeter.sol': '../../../../../../../../etc/passwd' }),
      ),
  },
  metadata_is_fifo: {
    reason: 'special_file',
    damage: async (folder) => {
      await rm(join(folder, 'metadata.json'));
      execFileSync('mkfifo', [join(folder, 'metadata.json')]);
    },
  },
  huge_source: {
    reason: 'file_too_large',
    // A sparse file: it takes no space on disk.
    damage: (folder) => truncate(join(folder, SOURCE), 1024 ** 4),
  },
  contract_is_file: {
    reason: 'not_a_folder',
    damage: async (folder) => {
      await rm(folder, { recursive: true });
      await writeFile(folder, 'not a folder');
    },
  },
} as const satisfies Record<string, BadKind>;

/** A name of {@link BAD_KINDS}. */
export type BadEntryKind = keyof typeof BAD_KINDS;

/** Writes an invalid entry into the tree's full matches, on its own chain unless the chain is the fault. */
export async function writeBadEntry(folder: string, kind: BadEntryKind): Promise<BadEntry> {
  const { reason, chain, refusesChain, spell, damage }: BadKind = BAD_KINDS[kind];
  const templates = await compileExamples();
  const greeter = templates.find(({ name }) => name === 'Greeter');
  if (greeter === undefined) throw new Error('there is no example template');
  const number = BAD_NUMBERS + Object.keys(BAD_KINDS).indexOf(kind);
  const sound = checksumAddress(exampleAddress(number));
  const address = spell?.(sound) ?? sound;
  const chainId = chain ?? BAD_CHAIN;
  const path = contractFolder(folder, { match: 'full', chainId, address });
  await mkdir(path, { recursive: true });
  await writeContract(path, greeter, { layout: 'v1' });
  await damage?.(path);
  return {
    kind,
    reason,
    path: refusesChain === true ? `full_match/${chainId}` : `full_match/${chainId}/${address}`,
  };
}
