import { type SettingChanges } from '../../../src/solidity/setting-changes.ts';

/** A change of the form's content that a failed job suggests. */
export interface InputChange {
  /** `path:Name`. */
  readonly contract?: string;
  readonly settings?: SettingChanges;
  /** `path:Name` -> address. */
  readonly libraries?: Readonly<Record<string, string>>;
}

/** Values of the form's fields. */
export interface VerifyFields {
  readonly chain: string;
  readonly address: string;
  readonly compilerVersion: string;
  readonly contract: string;
  readonly transaction: string;
  /** Settings for sources submitted without any. */
  readonly optimizer: boolean;
  readonly runs: string;
  readonly evmVersion: string;
  readonly viaIR: boolean;
  /** One per line: name=address. */
  readonly libraries: string;
  /** One per line: prefix=target. */
  readonly remappings: string;
  /** Changes of a standard JSON input, which states its own settings. */
  readonly inputChange?: InputChange;
}
