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
import { linkerOf, readConfiguredLibraries } from './configured-libraries.ts';
import { type ReadingParts } from '../read-on-chain.ts';
import { VerificationFailure } from '../verification-failure.ts';

/** No contract links more; each is read on chain. */
const LIBRARIES_READ = 64;
const READ_AT_ONCE = 8;

/** The operands of `PUSHLIB` in an assembly and in those within it: `path:Name`, linked or not. */
function* pushedLibraries(assembly: unknown): Generator<string> {
  if (!isMembers(assembly)) return;
  const { '.code': code, '.data': parts } = assembly;
  for (const item of Array.isArray(code) ? (code as unknown[]) : []) {
    if (isMembers(item) && item['name'] === 'PUSHLIB') yield String(item['value']);
  }
  for (const part of isMembers(parts) ? Object.values(parts) : []) yield* pushedLibraries(part);
}

/** The libraries that a contract names in its code, linked or not, by `path:Name`. */
function namedLibraries({ evm, unlinked }: CompiledTarget): Iterable<string> {
  return unlinked === undefined ? pushedLibraries(evm.legacyAssembly) : openLibraries(unlinked);
}

/** The libraries whose places in the codes the compiler left open, by `path:Name`. */
function openLibraries({ bytecode, deployedBytecode }: CompiledTarget['evm']): ReadonlySet<string> {
  return new Set(
    [bytecode, deployedBytecode].flatMap(({ linkReferences = {} }) => idsOf(linkReferences)),
  );
}

/**
 * The libraries whose addresses the settings give and the code has, by `path:Name`. The compiler links them itself, so
 * that nothing in its codes shows them.
 */
export function linkedBySettings(
  input: StandardJsonInput,
  compiled: CompiledTarget,
): ReadonlyMap<string, Hex> {
  const configured = readConfiguredLibraries(input.settings);
  if (Object.keys(configured).length === 0) return new Map();
  const open = openLibraries(compiled.evm);
  const addressOf = linkerOf(configured, compiled.version);
  const linked = new Map<string, Hex>();
  for (const id of new Set(namedLibraries(compiled))) {
    const address = open.has(id) ? undefined : addressOf(id);
    if (address !== undefined) linked.set(id, address);
  }
  return linked;
}

/** The `path:Name` of every entry of path → Name → anything. */
function idsOf(byPath: Readonly<Record<string, object>>): readonly string[] {
  return Object.entries(byPath).flatMap(([path, named]) =>
    Object.keys(named).map((name) => `${path}:${name}`),
  );
}

/** The libraries whose addresses were read from the codes on chain, by `path:Name`. */
function linkedOnChain({
  runtime,
  creation,
}: ContractJudgement): readonly (readonly [string, Hex])[] {
  return [runtime, creation].flatMap((verdict) =>
    verdict?.match ? Object.entries(verdict.values.libraries ?? {}) : [],
  );
}

/**
 * Asks the chain for the code of every library that a contract links: a call of one that is not there does nothing and
 * succeeds, and an account that delegates is whatever it delegates to today.
 * @throws VerificationFailure library_not_deployed, cannot_fetch_bytecode; FullmatchError as reading code does.
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
