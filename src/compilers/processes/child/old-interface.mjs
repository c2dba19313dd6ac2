// Compilers before 0.4.11 do not support standard JSON: they receive sources, and whether to optimize, and return a
// format of their own. This module converts a standard JSON input to such a call, and its result to a standard JSON
// output.
//
// Since 0.4.9 a contract is named `path:Name`, before by its name alone. Sources have ids since 0.3.6; metadata exists
// since 0.4.7. Before 0.1.6 there is a single source without a name.

/**
 * @typedef {Record<string, unknown>} Members
 *
 * The members of a standard JSON input that are read.
 * @typedef {object} StandardInput
 * @property {string} [language]
 * @property {Record<string, { content?: string }>} [sources]
 * @property {{ optimizer?: { enabled?: boolean } }} [settings]
 *
 * The arguments of a call: a single source as text if the compiler accepts only one, otherwise all as JSON.
 * @typedef {{ text: string, isOptimised: boolean }} OldCall
 *
 * @typedef {{ severity: string, type: string, component: string, message: string, formattedMessage: string }} Message
 *
 * A node of a syntax tree. A contract may be nested in the preceding one.
 * @typedef {{ name?: string, attributes?: { name?: string }, children?: TreeNode[] }} TreeNode
 *
 * @typedef {object} OldContract
 * @property {string} [interface]
 * @property {string} [bytecode]
 * @property {string} [runtimeBytecode]
 * @property {string} [srcmap]
 * @property {string} [srcmapRuntime]
 * @property {string} [srcmap-runtime] the same in 0.3.6
 * @property {string} [metadata]
 * @property {unknown} [assembly]
 *
 * @typedef {object} OldOutput
 * @property {string} [error]
 * @property {string[]} [errors]
 * @property {string[]} [sourceList]
 * @property {Record<string, { AST?: TreeNode }>} [sources]
 * @property {Record<string, OldContract>} [contracts]
 */

/** `path:line:column: Type: ` before 0.4.11; a source without a name has an empty path. */
const PLACE = /:\d{1,9}:\d{1,9}: (?:([A-Za-z][A-Za-z ]{0,40}): )?/;
const PLACEHOLDER_BYTES = 40;
const PLACEHOLDER_NAME_BYTES = 36;
const ADDRESS_BYTES = 20;

/**
 * @param {string} message
 * @returns {Message}
 */
function refuse(message) {
  const formattedMessage = `JSONError: ${message}`;
  return { severity: 'error', type: 'JSONError', component: 'general', message, formattedMessage };
}

/**
 * Converts an input to a call, or returns why it cannot be compiled.
 *
 * @param {StandardInput} input
 * @param {boolean} takesMany whether the compiler takes several sources
 * @returns {OldCall | { fault: Message }}
 */
export function toOldCall({ language, sources = {}, settings = {} }, takesMany) {
  if (language !== 'Solidity') {
    return { fault: refuse('Only "Solidity" is supported as a language.') };
  }
  const isOptimised = settings.optimizer?.enabled === true;
  const texts = Object.entries(sources).map(
    ([path, { content = '' }]) => /** @type {const} */ ([path, content]),
  );
  if (takesMany) {
    // `fromEntries` defines own members, so a source name such as `__proto__` stays an ordinary key.
    return { text: JSON.stringify({ sources: Object.fromEntries(texts) }), isOptimised };
  }
  const [first, ...others] = texts;
  if (others.length > 0) {
    return { fault: refuse('Versions before 0.1.6 compile a single source; put all into one.') };
  }
  return { text: first?.[1] ?? '', isOptimised };
}

/**
 * The standard JSON output if the compiler was not called.
 * @param {Message} fault
 */
export function refusalOutput(fault) {
  return { errors: [fault] };
}

/**
 * @param {string} formattedMessage
 * @returns {Message}
 */
function readMessage(formattedMessage) {
  const [line = ''] = formattedMessage.split('\n', 1);
  const [placed = '', named] = PLACE.exec(line) ?? [];
  const message = placed === '' ? line : line.slice(line.indexOf(placed) + placed.length);
  const type = named ?? (/exception/i.test(line) ? 'Exception' : 'Error');
  const severity = named === 'Warning' ? 'warning' : 'error';
  return { severity, type, component: 'general', message, formattedMessage };
}

/**
 * Returns the names of the contracts that a source declares.
 * @param {TreeNode | undefined} tree
 * @returns {Set<string>}
 */
function declaredIn(tree) {
  /** @type {Set<string>} */
  const names = new Set();
  const nodes = tree === undefined ? [] : [tree];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const { name, attributes, children = [] } = node;
    if ((name === 'Contract' || name === 'ContractDefinition') && attributes?.name !== undefined) {
      names.add(attributes.name);
    }
    for (const child of children) nodes.push(child);
  }
  return names;
}

/** Maps contracts to their sources. */
class Declarations {
  /** @type {ReadonlySet<string>} */
  #paths;
  #sourceList;
  /** @type {Map<string, string[]>} */
  #declaring = new Map();

  /**
   * @param {readonly string[]} paths of the input
   * @param {OldOutput} output
   */
  constructor(paths, { sources = {}, sourceList = [] }) {
    this.#paths = new Set(paths);
    this.#sourceList = sourceList;
    for (const [source, { AST: tree }] of Object.entries(sources)) {
      // Before 0.1.6 the only source has no name.
      const path = source === '' && paths.length === 1 ? /** @type {string} */ (paths[0]) : source;
      for (const name of declaredIn(tree)) {
        this.#declaring.set(name, [...(this.#declaring.get(name) ?? []), path]);
      }
    }
  }

  /**
   * Returns path and name of a contract; undefined if the path is ambiguous or not in the input.
   *
   * @param {string} given
   * @param {OldContract} [contract] distinguishes contracts of the same name
   * @returns {{ path: string, name: string } | undefined}
   */
  find(given, { srcmap = '' } = {}) {
    const colon = given.lastIndexOf(':');
    if (colon !== -1) return this.#known(given.slice(0, colon), given.slice(colon + 1));
    const [path, ...others] = this.#declaring.get(given) ?? [];
    // From 0.2.1 to 0.4.8 a contract hides those of the same name in other sources.
    return this.#known(others.length === 0 ? path : this.#mapped(srcmap), given);
  }

  /**
   * Returns the id of the source in which a source map begins: `start:length:source:...`.
   * @param {string} sourceMap
   */
  #mapped(sourceMap) {
    const source = /^\d*:\d*:(\d{1,9})/.exec(sourceMap)?.[1];
    return source === undefined ? undefined : this.#sourceList[Number(source)];
  }

  /**
   * @param {string | undefined} path
   * @param {string} name
   */
  #known(path, name) {
    return path !== undefined && this.#paths.has(path) ? { path, name } : undefined;
  }
}

/**
 * Returns the libraries that an assembly and its nested assemblies push.
 * @param {unknown} assembly
 * @returns {Set<string>}
 */
function pushedLibraries(assembly) {
  /** @type {Set<string>} */
  const names = new Set();
  const assemblies = [assembly];
  while (assemblies.length > 0) {
    const each = assemblies.pop();
    if (typeof each !== 'object' || each === null) continue;
    const { '.code': code, '.data': parts } = /** @type {Members} */ (each);
    for (const item of Array.isArray(code) ? /** @type {Members[]} */ (code) : []) {
      if (item['name'] === 'PUSHLIB') names.add(String(item['value']));
    }
    if (typeof parts !== 'object' || parts === null) continue;
    for (const part of Object.values(parts)) assemblies.push(part);
  }
  return names;
}

/**
 * Returns the placeholder of a library address: two underscores, the first bytes of its name, underscores.
 * @param {string} name
 */
function placeholderOf(name) {
  const placeholder = Buffer.alloc(PLACEHOLDER_BYTES, '_');
  Buffer.from(name).subarray(0, PLACEHOLDER_NAME_BYTES).copy(placeholder, 2);
  return placeholder;
}

/**
 * Finds the link references: path -> name -> ranges. Libraries with the same placeholder are ambiguous, as is the path
 * of a library that several sources declare: their references are left out, and the bytecode is then rejected.
 *
 * @param {string} object
 * @param {ReadonlySet<string>} libraries names in the assembly
 * @param {Declarations} declarations
 */
function findLinkReferences(object, libraries, declarations) {
  const code = Buffer.from(object);
  /** @type {Map<string, string | undefined>} */
  const byPlaceholder = new Map();
  for (const library of libraries) {
    const placeholder = placeholderOf(library).toString('latin1');
    byPlaceholder.set(placeholder, byPlaceholder.has(placeholder) ? undefined : library);
  }
  /** @type {Map<string, [string, { start: number, length: number }[]][]>} */
  const references = new Map();
  for (const [placeholder, library] of byPlaceholder) {
    const found = library === undefined ? undefined : declarations.find(library);
    if (found === undefined) continue;
    const places = [];
    const bytes = Buffer.from(placeholder, 'latin1');
    for (let at = code.indexOf(bytes); at !== -1; at = code.indexOf(bytes, at + bytes.length)) {
      places.push({ start: at / 2, length: ADDRESS_BYTES });
    }
    if (places.length === 0) continue;
    const named = references.get(found.path) ?? [];
    references.set(found.path, named);
    named.push([found.name, places]);
  }
  return Object.fromEntries(
    [...references].map(([path, named]) => [path, Object.fromEntries(named)]),
  );
}

/**
 * @param {string} object
 * @param {string | undefined} sourceMap
 * @param {ReadonlySet<string>} libraries
 * @param {Declarations} declarations
 */
function toCode(object, sourceMap, libraries, declarations) {
  return {
    object,
    ...(sourceMap !== undefined && { sourceMap }),
    linkReferences: findLinkReferences(object, libraries, declarations),
  };
}

/**
 * @param {OldContract} contract
 * @param {Declarations} declarations
 */
function toContract(contract, declarations) {
  const { interface: abi, metadata, assembly, bytecode = '', runtimeBytecode = '' } = contract;
  const { srcmap, srcmapRuntime = contract['srcmap-runtime'] } = contract;
  const libraries = pushedLibraries(assembly);
  return {
    ...(abi !== undefined && { abi: /** @type {unknown} */ (JSON.parse(abi)) }),
    ...(metadata !== undefined && { metadata }),
    evm: {
      bytecode: toCode(bytecode, srcmap, libraries, declarations),
      deployedBytecode: toCode(runtimeBytecode, srcmapRuntime, libraries, declarations),
      legacyAssembly: assembly,
    },
  };
}

/**
 * Converts the output of an old compiler to a standard JSON output.
 *
 * @param {OldOutput} output
 * @param {StandardInput} input
 */
export function toStandardOutput(output, { sources = {} }) {
  const { error, errors = error === undefined ? [] : [error], sourceList = [] } = output;
  const paths = Object.keys(sources);
  const declarations = new Declarations(paths, output);
  /** @type {Map<string, [string, object][]>} */
  const contracts = new Map();
  for (const [name, contract] of Object.entries(output.contracts ?? {})) {
    const found = declarations.find(name, contract);
    if (found === undefined) continue;
    const named = contracts.get(found.path) ?? [];
    contracts.set(found.path, named);
    named.push([found.name, toContract(contract, declarations)]);
  }
  // 0.3 adds sources of its own.
  const given = new Set(paths);
  const ids = sourceList
    .map((path, id) => /** @type {const} */ ([path, { id }]))
    .filter(([path]) => given.has(path));
  return {
    ...(errors.length > 0 && { errors: errors.map(readMessage) }),
    ...(contracts.size > 0 && {
      contracts: Object.fromEntries(
        [...contracts].map(([path, named]) => [path, Object.fromEntries(named)]),
      ),
    }),
    ...(ids.length > 0 && { sources: Object.fromEntries(ids) }),
  };
}
