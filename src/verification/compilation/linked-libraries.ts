import { type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { isReservedAddress } from '../../bytecode/explained-value.ts';
import { isDelegation } from '../../chains/rpc/delegation.ts';
import { type RegisteredChain } from '../../chains/registry/registered-chain.ts';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { FullmatchError } from '../../errors.ts';
import { checksumAddress, hexToBytes, type Hex } from '../../lib/hex.ts';
import { isMembers } from '../../lib/members.ts';
import { printableText } from '../../lib/printable-text.ts';
import { type CompiledTarget } from './compile-contract.ts';
import { linkedAddressLookup, readConfiguredLibraries } from './configured-libraries.ts';
import { type ReadingParts } from '../read-on-chain.ts';
import { VerificationFailure } from '../verification-failure.ts';

/** More than any contract links; each one is read on chain. */
const LIBRARIES_READ = 64;
const READ_AT_ONCE = 8;

/** Yields the operands of `PUSHLIB` in an assembly and its nested assemblies: `path:Name`, linked or not. */
function* pushedLibraries(assembly: unknown): Generator<string> {
  if (!isMembers(assembly)) return;
  const { '.code': code, '.data': parts } = assembly;
  for (const item of Array.isArray(code) ? (code as unknown[]) : []) {
    if (isMembers(item) && item['name'] === 'PUSHLIB') yield String(item['value']);
  }
  for (const part of isMembers(parts) ? Object.values(parts) : []) yield* pushedLibraries(part);
}

/** Returns the libraries that a contract references, linked or not, by `path:Name`. */
function namedLibraries({ evm, unlinked }: CompiledTarget): Iterable<string> {
  return unlinked === undefined ? pushedLibraries(evm.legacyAssembly) : openLibraries(unlinked);
}

/** Returns the libraries that the compiler left as placeholders, by `path:Name`. */
function openLibraries({ bytecode, deployedBytecode }: CompiledTarget['evm']): ReadonlySet<string> {
  return new Set(
    [bytecode, deployedBytecode].flatMap(({ linkReferences = {} }) => idsOf(linkReferences)),
  );
}

/**
 * Returns the libraries that the compiler linked from the settings, by `path:Name`. Its link references do
 * not list them.
 */
export function linkedBySettings(
  input: StandardJsonInput,
  compiled: CompiledTarget,
): ReadonlyMap<string, Hex> {
  const configured = readConfiguredLibraries(input.settings);
  if (Object.keys(configured).length === 0) return new Map();
  const open = openLibraries(compiled.evm);
  const addressOf = linkedAddressLookup(configured, compiled.version);
  const linked = new Map<string, Hex>();
  for (const id of new Set(namedLibraries(compiled))) {
    const address = open.has(id) ? undefined : addressOf(id);
    if (address !== undefined) linked.set(id, address);
  }
  return linked;
}

/** Returns the `path:Name` of every entry of a record path -> Name -> anything. */
function idsOf(byPath: Readonly<Record<string, object>>): readonly string[] {
  return Object.entries(byPath).flatMap(([path, named]) =>
    Object.keys(named).map((name) => `${path}:${name}`),
  );
}

/** Returns the libraries whose addresses were read from the bytecode on chain, by `path:Name`. */
function linkedOnChain({
  runtime,
  creation,
}: ContractJudgement): readonly (readonly [string, Hex])[] {
  return [runtime, creation].flatMap((verdict) =>
    verdict?.match ? Object.entries(verdict.values.libraries ?? {}) : [],
  );
}

/**
 * Requires that every library a contract links is deployed: a call to an address without code succeeds and
 * does nothing, and a delegating account can change its target at any time.
 * @throws VerificationFailure library_not_deployed, cannot_fetch_bytecode; FullmatchError as reading code
 * does.
 */
export async function requireDeployedLibraries(
  parts: ReadingParts,
  chain: RegisteredChain,
  configured: ReadonlyMap<string, Hex>,
  judgement: ContractJudgement,
  signal: AbortSignal,
): Promise<void> {
  const ids = new Map([...configured, ...linkedOnChain(judgement)].map(([id, at]) => [at, id]));
  const libraries = [...ids];
  if (libraries.length > LIBRARIES_READ) {
    throw new VerificationFailure(
      'cannot_fetch_bytecode',
      `The contract links ${libraries.length} libraries; the code of at most ${LIBRARIES_READ} is read.`,
    );
  }
  for (let from = 0; from < libraries.length; from += READ_AT_ONCE) {
    const batch = libraries.slice(from, from + READ_AT_ONCE);
    await Promise.all(
      batch.map(([address, id]) => requireDeployed(parts, chain, id, address, signal)),
    );
  }
}

async function requireDeployed(
  { readDeployedCode, quorumOf }: ReadingParts,
  chain: RegisteredChain,
  id: string,
  address: Hex,
  signal: AbortSignal,
): Promise<void> {
  if (isReservedAddress(hexToBytes(address)))
    throw notDeployed(id, address, 'no library can be there');
  const quorum = quorumOf(chain.record.chainId);
  try {
    const { code } = await readDeployedCode(chain, address, {
      signal,
      ...(quorum !== undefined && { quorum }),
    });
    if (isDelegation(code)) throw notDeployed(id, address, 'the address is a delegating account');
  } catch (error) {
    const isEmpty = error instanceof FullmatchError && error.code === 'contract_not_deployed';
    throw isEmpty ? notDeployed(id, address, 'no code is there') : error;
  }
}

function notDeployed(id: string, address: Hex, fault: string): VerificationFailure {
  const shown = printableText(id);
  return new VerificationFailure(
    'library_not_deployed',
    `The contract links the library ${shown} at ${checksumAddress(address)}, but ${fault}.`,
    { data: { library: shown, address: checksumAddress(address) } },
  );
}
