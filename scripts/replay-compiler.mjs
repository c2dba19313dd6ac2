#!/usr/bin/env node
// Replaces a missing compiler: returns, for a standard JSON input, the output recorded in a folder of verification cases.
//
//   node scripts/replay-compiler.mjs <folder> <version> < input.json
//
// A recording is found by the hash of version, language, sources and settings. Line endings and trailing whitespace of a
// source are ignored: the service changes them to locate metadata hashes and to find the text with the on-chain hash.
// The output then has other hashes in the recorded positions, as the compiler's would.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * @typedef {{ content?: string }} Source
 * @typedef {{ language: string, sources: Record<string, Source>, settings?: Record<string, unknown> }} Input
 * @typedef {Record<string, { offset: number, value: string }>} Positions
 *
 * Null if the compiler does not produce it.
 * @typedef {object} CodeArtifacts
 * @property {unknown} sourceMap
 * @property {unknown} linkReferences
 * @property {unknown} [immutableReferences]
 * @property {Positions | null} cborAuxdata
 *
 * @typedef {object} Case
 * @property {{ stdJsonInput: Input, compilerVersion: string, contractIdentifier: string }} input
 * @property {object} output
 * @property {string} output.creationBytecode
 * @property {string} output.deployedBytecode
 * @property {Record<string, unknown>} output.compilationArtifacts
 * @property {CodeArtifacts} output.creationCodeArtifacts
 * @property {CodeArtifacts} output.runtimeCodeArtifacts
 * @property {unknown} output.metadata
 */

/** Settings that do not affect the bytecode, or that the service adds to an input. */
const WITHOUT_EFFECT = new Set(['outputSelection', 'compilationTarget']);
/** Prefix of a metadata hash: the length of `ipfs` with its multihash prefix, or that of `bzzr`. */
const HASH_HEADS = ['64697066735822' + '1220', '65627a7a7230' + '5820', '65627a7a7231' + '5820'];
const HASH_DIGITS = 64;

/**
 * Removes empty members and sorts names, so that equivalent inputs have the same text.
 * @param {unknown} value
 * @returns {unknown}
 */
function normalise(value) {
  if (Array.isArray(value)) {
    const items = /** @type {unknown[]} */ (value).map((each) => normalise(each));
    return items.length === 0 ? undefined : items;
  }
  if (typeof value !== 'object' || value === null) return value ?? undefined;
  const members = Object.entries(value)
    .filter(([name]) => !WITHOUT_EFFECT.has(name))
    .map(([name, each]) => [name, normalise(each)])
    .filter(([, each]) => each !== undefined)
    .sort(([left], [right]) => (String(left) < String(right) ? -1 : 1));
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/**
 * @param {string} version
 * @param {Input} input
 */
function keyOf(version, { language, sources, settings }) {
  const texts = Object.entries(sources).map(([name, { content = '' }]) => [
    name,
    content.replaceAll('\r\n', '\n').trimEnd(),
  ]);
  const said = [
    version.replace(/^v/, ''),
    language,
    normalise(Object.fromEntries(texts)),
    normalise(settings),
  ];
  return createHash('sha256').update(JSON.stringify(said)).digest('hex');
}

/**
 * @param {string} folder
 * @returns {Case[]}
 */
function readCases(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'))
    .map((text) => /** @type {unknown} */ (JSON.parse(text)))
    .map((each) => /** @type {Case} */ (each));
}

/**
 * Replaces the metadata hashes in the auxdata of a bytecode.
 * @param {string} digits
 * @param {Positions} auxdatas
 */
function withOtherHashes(digits, auxdatas) {
  let changed = digits;
  for (const { offset, value } of Object.values(auxdatas)) {
    for (const head of HASH_HEADS) {
      const within = value.slice(2).indexOf(head);
      if (within === -1) continue;
      const start = 2 * offset + within + head.length;
      const hash = digits.slice(start, start + HASH_DIGITS);
      const other = Uint8Array.from(Buffer.from(hash, 'hex'), (byte) => 255 - byte);
      changed =
        changed.slice(0, start) +
        Buffer.from(other).toString('hex') +
        changed.slice(start + HASH_DIGITS);
    }
  }
  return changed;
}

/**
 * @param {string} code
 * @param {CodeArtifacts} artifacts
 * @param {boolean} isChanged
 */
function toCode(
  code,
  { sourceMap, linkReferences, immutableReferences = null, cborAuxdata },
  isChanged,
) {
  const digits = code.replace(/^0x/, '');
  return {
    object: isChanged ? withOtherHashes(digits, cborAuxdata ?? {}) : digits,
    ...(sourceMap !== null && { sourceMap }),
    ...(linkReferences !== null && { linkReferences }),
    ...(immutableReferences !== null && { immutableReferences }),
  };
}

/**
 * Returns the known part of the assembly: the libraries in the settings, and the auxdata of a contract that has one.
 * @param {Case} recorded
 */
function toAssembly({ input, output }) {
  const { libraries = {} } = input.stdJsonInput.settings ?? {};
  const byPath = /** @type {Record<string, object>} */ (libraries);
  const pushed = Object.entries(byPath).flatMap(([source, named]) =>
    Object.keys(named).map((name) => ({ name: 'PUSHLIB', value: `${source}:${name}` })),
  );
  const { runtimeCodeArtifacts, creationCodeArtifacts } = output;
  const [auxdata] = Object.values(runtimeCodeArtifacts.cborAuxdata ?? {});
  const most = Math.max(
    ...[runtimeCodeArtifacts, creationCodeArtifacts].map(
      ({ cborAuxdata }) => Object.keys(cborAuxdata ?? {}).length,
    ),
  );
  return {
    '.code': pushed,
    '.data': {
      0: auxdata !== undefined && most === 1 ? { '.auxdata': auxdata.value.slice(2) } : {},
    },
  };
}

/**
 * @param {Case} recorded
 * @param {Input} asked
 */
function toOutput(recorded, asked) {
  const { input, output } = recorded;
  const { contractIdentifier, stdJsonInput } = input;
  const colon = contractIdentifier.lastIndexOf(':');
  const [source, name] = [contractIdentifier.slice(0, colon), contractIdentifier.slice(colon + 1)];
  const { sources, ...artifacts } = output.compilationArtifacts;
  const isChanged = Object.entries(asked.sources).some(
    ([each, { content }]) => content !== stdJsonInput.sources[each]?.content,
  );
  const contract = {
    ...Object.fromEntries(Object.entries(artifacts).filter(([, value]) => value !== null)),
    ...(output.metadata !== null && { metadata: JSON.stringify(output.metadata) }),
    evm: {
      bytecode: toCode(output.creationBytecode, output.creationCodeArtifacts, isChanged),
      deployedBytecode: toCode(output.deployedBytecode, output.runtimeCodeArtifacts, isChanged),
      legacyAssembly: toAssembly(recorded),
    },
  };
  return { contracts: { [source]: { [name]: contract } }, ...(sources !== null && { sources }) };
}

const [folder = '.', version = ''] = process.argv.slice(2);
/** @type {unknown} */
const given = JSON.parse(readFileSync(0, 'utf8'));
const asked = /** @type {Input} */ (given);
const key = keyOf(version, asked);
const recorded = readCases(folder).find(
  ({ input }) => keyOf(input.compilerVersion, input.stdJsonInput) === key,
);
const message = `no recording of this input for ${version}`;
process.stdout.write(
  JSON.stringify(
    recorded === undefined
      ? { errors: [{ severity: 'error', type: 'JSONError', component: 'general', message }] }
      : toOutput(recorded, asked),
  ),
);
