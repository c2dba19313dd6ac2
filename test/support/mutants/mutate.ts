import { type SeededRandom } from '../fuzz/seeded-random.ts';

const FIRST_PUSH = 0x60;
const LAST_PUSH = 0x7f;

/** One change to bytecode, at places named by its compiler if the kind requires them. */
type Mutation = (random: SeededRandom, code: Buffer, places: Places) => Buffer;

/** Offsets of values and of nested contracts' bytecode. */
export interface Places {
  /** Offsets of libraries and immutables, the references of one value together, with its length. */
  readonly values: readonly { readonly starts: readonly number[]; readonly length: number }[];
  readonly other: Buffer;
}

function overwrite(code: Buffer, at: number, bytes: Uint8Array): Buffer {
  const changed = Buffer.from(code);
  // Earlier changes may have removed that offset.
  if (at >= 0 && at < code.length) changed.set(bytes.subarray(0, code.length - at), at);
  return changed;
}

function replaceAt(code: Buffer, at: number, removed: number, added: Uint8Array): Buffer {
  return Buffer.concat([code.subarray(0, at), added, code.subarray(at + removed)]);
}

/** Offsets of push instructions, read from the start like the EVM does. */
function pushes(code: Buffer): number[] {
  const found: number[] = [];
  for (let at = 0; at < code.length; at += 1) {
    const opcode = code[at] ?? 0;
    if (opcode < FIRST_PUSH || opcode > LAST_PUSH) continue;
    found.push(at);
    at += opcode - FIRST_PUSH + 1;
  }
  return found;
}

export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  flip: (random, code) => {
    const at = random.below(code.length);
    return overwrite(code, at, Buffer.of((code[at] ?? 0) ^ (1 << random.below(8))));
  },
  set: (random, code) => overwrite(code, random.below(code.length), random.bytes(1)),
  swap: (random, code) => {
    const [left, right] = [random.below(code.length), random.below(code.length)];
    const swapped = overwrite(code, left, Buffer.of(code[right] ?? 0));
    return overwrite(swapped, right, Buffer.of(code[left] ?? 0));
  },
  insert: (random, code) =>
    replaceAt(code, random.below(code.length + 1), 0, random.bytes(1 + random.below(40))),
  delete: (random, code) =>
    replaceAt(code, random.below(code.length), 1 + random.below(40), Buffer.alloc(0)),
  append: (random, code) => Buffer.concat([code, random.bytes(1 + random.below(64))]),
  truncate: (random, code) => code.subarray(0, code.length - 1 - random.below(60)),
  transplant: (random, code, { other }) => {
    const length = 1 + random.below(40);
    const from = random.below(Math.max(1, other.length - length));
    return overwrite(code, random.below(code.length), other.subarray(from, from + length));
  },
  push_data: (random, code) => {
    const at = random.pick(pushes(code)) ?? 0;
    const length = (code[at] ?? FIRST_PUSH) - FIRST_PUSH + 1;
    return overwrite(code, at + 1, random.bytes(length));
  },
  auxdata: (random, code) => {
    const at = code.length - 1 - random.below(Math.min(code.length, 60));
    return overwrite(code, at, random.bytes(1 + random.below(4)));
  },
  value_everywhere: (random, code, { values }) => {
    const value = random.pick(values);
    if (value === undefined) return overwrite(code, random.below(code.length), random.bytes(2));
    const bytes = random.bytes(value.length);
    if (random.chance(0.5)) bytes.fill(0, 0, Math.min(12, value.length - 1));
    return value.starts.reduce((changed, start) => overwrite(changed, start, bytes), code);
  },
  value_once: (random, code, { values }) => {
    const value = random.pick(values);
    const start = value?.starts[random.below(value.starts.length)] ?? random.below(code.length);
    return overwrite(code, start, random.bytes(value?.length ?? 2));
  },
};
