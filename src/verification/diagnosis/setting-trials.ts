import { isMembers } from '../../lib/members.ts';
import { isOptimized } from '../../solidity/optimizer-state.ts';

/** Compiler settings, as in the standard JSON input. */
type Settings = Readonly<Record<string, unknown>>;

/** Settings to try, and a description of the change. */
export interface SettingTrial {
  readonly settings: Settings;
  /** The change in the terms of the input: `optimizer.runs: 1000`. */
  readonly change: string;
}

/** Opcodes in a bytecode that reveal its EVM version. */
export interface CodeTraits {
  /** Whether it has PUSH0, which compilers emit from Shanghai on (EIP-3855). */
  readonly hasPush0: boolean;
  /** Whether it has MCOPY, from Cancun on (EIP-5656). */
  readonly hasMcopy: boolean;
}

/** Common values of `runs`: the default, those of the Hardhat and Foundry templates, and the extremes. */
const COMMON_RUNS = [200, 1_000, 999_999, 10_000, 1, 1_000_000, 100];
const DEFAULT_RUNS = 200;
/** The first release in which `viaIR` is not experimental (0.8.13 changelog). */
const VIA_IR_FROM = [0, 8, 13] as const;

/**
 * Lists settings that the deployer may have used, the likeliest first, each with one change. Changes the EVM
 * version only if the opcodes show a different one.
 */
export function settingTrials(
  settings: Settings,
  version: string,
  traits: { readonly ours: CodeTraits; readonly theirs: CodeTraits },
): readonly SettingTrial[] {
  const optimizer = isMembers(settings['optimizer']) ? settings['optimizer'] : {};
  const isEnabled = isOptimized(settings);
  const { runs = DEFAULT_RUNS } = optimizer;
  const withOptimizer = (change: object): Settings => ({
    ...settings,
    optimizer: { ...optimizer, ...change },
  });
  const evm = evmTrials(traits).map((evmVersion) => ({
    settings: { ...settings, evmVersion },
    change: `evmVersion: ${evmVersion}`,
  }));
  const toggled = isEnabled
    ? { settings: withOptimizer({ enabled: false }), change: 'optimizer.enabled: false' }
    : {
        settings: withOptimizer({ enabled: true, runs }),
        change: `optimizer.enabled: true, optimizer.runs: ${String(runs)}`,
      };
  const others = COMMON_RUNS.filter((each) => each !== runs).map((each) => ({
    settings: withOptimizer({ enabled: true, runs: each }),
    change: `${isEnabled ? '' : 'optimizer.enabled: true, '}optimizer.runs: ${each}`,
  }));
  const viaIr = settings['viaIR'] !== true;
  const ir = isFrom(version, VIA_IR_FROM)
    ? [{ settings: { ...settings, viaIR: viaIr }, change: `viaIR: ${viaIr}` }]
    : [];
  // While the optimizer is off, `runs` has no effect, so toggling it comes first.
  return isEnabled
    ? [...evm, ...others.slice(0, 3), ...ir, toggled, ...others.slice(3)]
    : [...evm, toggled, ...others.slice(0, 3), ...ir, ...others.slice(3)];
}

function evmTrials({ ours, theirs }: { ours: CodeTraits; theirs: CodeTraits }): readonly string[] {
  if (ours.hasPush0 && !theirs.hasPush0) return ['paris', 'london'];
  if (!ours.hasPush0 && theirs.hasPush0) return ['shanghai', 'cancun', 'prague'];
  if (ours.hasMcopy && !theirs.hasMcopy) return ['shanghai'];
  if (!ours.hasMcopy && theirs.hasMcopy) return ['cancun', 'prague'];
  return [];
}

function isFrom(version: string, from: readonly number[]): boolean {
  const parts = /^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number) ?? [];
  const differs = from.findIndex((each, index) => each !== parts[index]);
  return differs === -1 || (parts[differs] ?? 0) > (from[differs] ?? 0);
}
