import { type Anvil } from '../anvil.ts';
import { compileInChild, type SolcVersion } from '../compile-in-child.ts';

/** A forger's submission after the chain has been prepared. */
export interface Submission {
  readonly address: string;
  readonly body: object;
  /** `metadata` for POST /v2/verify/metadata. */
  readonly route?: 'metadata';
}

/** An attempt to have something untrue published. */
export interface Forgery {
  /** `constructor_returns 0.8.20 33ff`: the kind and its parameters. */
  readonly id: string;
  readonly kind: string;
  /** Prepares the chain; undefined if this compiler rejects the source, so that there is nothing to forge. */
  readonly prepare: (anvil: Anvil) => Promise<Submission | undefined>;
  /**
   * Text that the record must not show. Without it nothing may match at all; with it an honest match may
   * remain that shows none of it.
   */
  readonly planted?: string;
}

interface Reference {
  readonly start: number;
  readonly length: number;
}

/** A contract as compiled. */
export interface Compiled {
  readonly metadata: string;
  readonly evm: {
    readonly bytecode: { readonly object: string };
    readonly deployedBytecode: {
      readonly object: string;
      readonly immutableReferences?: Readonly<Record<string, readonly Reference[]>>;
      readonly linkReferences?: Readonly<
        Record<string, Readonly<Record<string, readonly Reference[]>>>
      >;
    };
  };
}

/** A standard JSON input with one target. */
export interface Input {
  readonly version: SolcVersion;
  readonly language?: 'Solidity' | 'Yul';
  readonly source: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly moreSources?: Readonly<Record<string, string>>;
}

const OPTIMIZER = { optimizer: { enabled: true, runs: 200 } };

function pathOf({ language }: Input): string {
  return language === 'Yul' ? 'a.yul' : 'a.sol';
}

/** The contract A of an input, or undefined if the compiler rejects the source. */
export async function compile(input: Input): Promise<Compiled | undefined> {
  const [output] = await compileInChild<{
    contracts?: Readonly<Record<string, Readonly<Record<string, Compiled>>>>;
  }>(input.version, [
    {
      language: input.language ?? 'Solidity',
      sources: { [pathOf(input)]: { content: input.source } },
      settings: { ...OPTIMIZER, outputSelection: { '*': { '*': ['*'] } } },
    },
  ]);
  return output?.contracts?.[pathOf(input)]?.['A'];
}

/** The body of POST /v2/verify for an input. */
export function bodyOf(input: Input, more: object = {}): object {
  const sources = { [pathOf(input)]: input.source, ...input.moreSources };
  return {
    stdJsonInput: {
      language: input.language ?? 'Solidity',
      sources: Object.fromEntries(
        Object.entries(sources).map(([path, content]) => [path, { content }]),
      ),
      settings: { ...OPTIMIZER, ...input.settings },
    },
    compilerVersion: input.version,
    contractIdentifier: `${pathOf(input)}:A`,
    ...more,
  };
}

let placed = 0;
/** Places bytecode at an address, like a deployment with other init code. */
export async function placeCode(anvil: Anvil, code: string): Promise<string> {
  placed += 1;
  const address = `0xf0${placed.toString(16).padStart(38, '0')}`;
  await anvil.request('anvil_setCode', [address, `0x${code}`]);
  return address;
}
