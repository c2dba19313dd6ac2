import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { EventLoopYielder } from '../../lib/event-loop-yielder.ts';
import { parseSignature } from '../../solidity/parse-signature.ts';
import { type Queryable } from '../../store/database.ts';
import {
  decodeCall,
  type DecodedAbi,
  decodeEvent,
  DecodingBudget,
  guessDeclarations,
  type LogEntry,
} from './decode-values.ts';
import {
  type EventInputs,
  findByHashes,
  findEventInputs,
  type SignatureName,
} from './find-signatures.ts';

const SELECTOR_BYTES = 4;
/** Decoding budget of one request: a third of a second, with pauses. */
const DECODED_BYTES = 2 ** 23;

/** Cost of parsing the types of a signature for each character, relative to decoding a byte. */
const TYPE_BYTES = 2;

/**
 * Candidate functions of a transaction's input: those with its selector whose types strictly decode its
 * arguments. Names that another one outnumbers are left out.
 * @throws FullmatchError request_too_complex
 */
export async function describeCall(
  database: Queryable,
  input: Buffer,
): Promise<readonly DecodedAbi[]> {
  const selector = bytesToHex(input.subarray(0, SELECTOR_BYTES));
  const names = (await findByHashes(database, 'function', [selector])).get(selector) ?? [];
  const budget = new DecodingBudget(DECODED_BYTES);
  const pauses = new EventLoopYielder();
  const found: DecodedAbi[] = [];
  for (const { signature, isFiltered } of names) {
    const parsed = isFiltered ? undefined : parseSignature(signature);
    if (parsed === undefined) continue;
    await pauses.take();
    const decoded = decodeCall(parsed, input.subarray(SELECTOR_BYTES), budget);
    if (decoded !== undefined) found.push(decoded);
  }
  return found;
}

/**
 * Candidate events of log entries: each matching declaration of a verified contract, or if there is none, the
 * known names of its hash with the first matching choice of indexed parameters.
 * @throws FullmatchError request_too_complex
 */
export async function describeEvents(
  database: Queryable,
  entries: readonly LogEntry[],
): Promise<readonly (readonly DecodedAbi[])[]> {
  const hashes = [...new Set(entries.flatMap((entry) => hashOf(entry) ?? []))];
  const names = await findByHashes(database, 'event', hashes);
  const inputs = await findEventInputs(database, hashes);
  const budget = new DecodingBudget(DECODED_BYTES);
  const decoding = { budget, pauses: new EventLoopYielder() };
  const described: (readonly DecodedAbi[])[] = [];
  for (const entry of entries) {
    const hash = hashOf(entry) ?? '0x';
    const declared = await decodeDeclared(inputs.get(hash) ?? [], entry, decoding);
    described.push(
      declared.length > 0 ? declared : await guess(names.get(hash) ?? [], entry, decoding),
    );
  }
  return described;
}

/** Decoding budget of a request, and how it yields to others. */
interface Decoding {
  readonly budget: DecodingBudget;
  readonly pauses: EventLoopYielder;
}

async function decodeDeclared(
  declarations: readonly EventInputs[],
  entry: LogEntry,
  { budget, pauses }: Decoding,
): Promise<readonly DecodedAbi[]> {
  const found: DecodedAbi[] = [];
  for (const { signature, inputs } of declarations) {
    await pauses.take();
    const parsed = parseSignature(signature);
    const decoded = parsed && decodeEvent(parsed, inputs, entry, budget);
    if (decoded !== undefined) found.push(decoded);
  }
  return found;
}

async function guess(
  names: readonly SignatureName[],
  entry: LogEntry,
  { budget, pauses }: Decoding,
): Promise<readonly DecodedAbi[]> {
  const found: DecodedAbi[] = [];
  for (const { signature, isFiltered } of names) {
    const parsed = isFiltered ? undefined : parseSignature(signature);
    if (parsed === undefined) continue;
    for (const declared of guessDeclarations(parsed, entry)) {
      await pauses.take();
      // Each attempt parses all types.
      budget.spend(TYPE_BYTES * signature.length);
      const decoded = decodeEvent(parsed, declared, entry, budget);
      if (decoded === undefined) continue;
      found.push(decoded);
      break;
    }
  }
  return found;
}

function hashOf({ topics }: LogEntry): Hex | undefined {
  return topics[0] && bytesToHex(topics[0]);
}
