import { compareVersions } from '../../compilers/compiler-version.ts';
import { membersOf } from '../../lib/members.ts';
import { isOptimized } from '../../solidity/optimizer-state.ts';
import { type SettingChanges } from '../../solidity/setting-changes.ts';

/** Compiler settings, as in the standard JSON input. */
type Settings = Readonly<Record<string, unknown>>;

/** A compilation whose settings are to be varied. */
export interface TriedCompilation {
  readonly language: string;
  readonly version: string;
  readonly settings: Settings;
}

/** Opcodes in a bytecode that reveal its EVM version. */
export interface CodeTraits {
  /** Whether it has PUSH0, which compilers emit from Shanghai on (EIP-3855). */
  readonly hasPush0: boolean;
  /** Whether it has MCOPY, from Cancun on (EIP-5656). */
  readonly hasMcopy: boolean;
}

/** The opcodes of both bytecodes: the recompiled one and the one on chain. */
export interface BothTraits {
  readonly ours: CodeTraits;
  readonly theirs: CodeTraits;
}

/** Common values of `runs`: the default, those of the Hardhat and Foundry templates, and the extremes. */
const COMMON_RUNS = [200, 1_000, 999_999, 10_000, 1, 1_000_000, 100];
const DEFAULT_RUNS = 200;
/** The first release in which `viaIR` is not experimental (0.8.13 changelog). */
const VIA_IR_FROM = '0.8.13';
/** The Vyper release from which `optimize` is a mode (0.3.10 release notes). */
const OPTIMIZE_MODES_FROM = '0.3.10';
/** The mode of a compilation that names none. */
const DEFAULT_MODE = 'gas';

/**
 * EVM versions, newest first as the compiler's default mostly is, with the release of solc that first knows the
 * name (its changelog): without PUSH0, with PUSH0 only, and with MCOPY as well.
 */
const BEFORE_PUSH0 = [
  ['paris', '0.8.18'],
  ['london', '0.8.7'],
  ['berlin', '0.8.5'],
  ['istanbul', '0.5.14'],
  ['petersburg', '0.5.5'],
  ['byzantium', '0.4.21'],
] as const;
const WITH_PUSH0 = [['shanghai', '0.8.20']] as const;
const WITH_MCOPY = [
  ['osaka', '0.8.29'],
  ['prague', '0.8.27'],
  ['cancun', '0.8.24'],
] as const;
/** Number of pairs of changes with viaIR. */
const IR_PAIRS = 4;
/** Number of EVM versions that are combined with other settings; older ones mostly give the same code. */
const EVM_PAIRS = 2;

/**
 * Lists changes that turn the submitted settings into those that the deployer may have used, the likeliest
 * first: one change each, then common pairs.
 */
export function settingTrials(
  compilation: TriedCompilation,
  traits: BothTraits,
): readonly SettingChanges[] {
  const [others, pairs] =
    compilation.language === 'vyper' ? [vyperModes(compilation), []] : solidityTrials(compilation);
  const evms = evmVersionsFor(compilation, traits.theirs).map((evmVersion): SettingChanges => ({
    evmVersion,
  }));
  const likely = evms.slice(0, EVM_PAIRS);
  const withEvm = [...others, ...pairs].flatMap((each) =>
    likely.map((evm) => ({ ...each, ...evm })),
  );
  const { ours, theirs } = traits;
  // No other setting adds or removes PUSH0.
  if (ours.hasPush0 !== theirs.hasPush0) return [...evms, ...withEvm];
  if (ours.hasMcopy !== theirs.hasMcopy) return [...evms, ...others, ...pairs, ...withEvm];
  return [...others, ...pairs, ...evms, ...withEvm.slice(0, EVM_PAIRS)];
}

/** Lists the EVM versions of a compiler that allow these opcodes. Cancun and later may lack MCOPY. */
function evmVersionsFor(
  { language, version, settings }: TriedCompilation,
  { hasPush0, hasMcopy }: CodeTraits,
): readonly string[] {
  const withPush0 = hasMcopy ? WITH_MCOPY : [...WITH_MCOPY, ...WITH_PUSH0];
  // Vyper follows later, and a name that its version does not know costs a compilation.
  const ordered = language === 'vyper' ? withPush0.toReversed() : withPush0;
  return (hasPush0 ? ordered : BEFORE_PUSH0)
    .filter(([, since]) => language === 'vyper' || compareVersions(version, since) >= 0)
    .map(([name]) => name)
    .filter((name) => name !== settings['evmVersion']);
}

function solidityTrials({
  settings,
  version,
}: TriedCompilation): readonly [readonly SettingChanges[], readonly SettingChanges[]] {
  const optimizer = membersOf(settings['optimizer']);
  const { runs = DEFAULT_RUNS } = optimizer;
  const isEnabled = isOptimized(settings);
  const others = COMMON_RUNS.filter((each) => each !== runs).map((each): SettingChanges => ({
    optimizer: { enabled: true, runs: each },
  }));
  const toggled: SettingChanges = isEnabled
    ? { optimizer: { enabled: false } }
    : { optimizer: { enabled: true, runs: Number(runs) } };
  const ir: readonly SettingChanges[] =
    compareVersions(version, VIA_IR_FROM) >= 0 ? [{ viaIR: settings['viaIR'] !== true }] : [];
  // While the optimizer is off, `runs` has no effect, so toggling it comes first.
  const single = isEnabled
    ? [...others.slice(0, 3), ...ir, toggled, ...others.slice(3)]
    : [toggled, ...others.slice(0, 3), ...ir, ...others.slice(3)];
  const ranked = isEnabled ? others : [toggled, ...others];
  const pairs = ir.flatMap((each) =>
    ranked.slice(0, IR_PAIRS).map((runsOf) => ({ ...runsOf, ...each })),
  );
  return [single, pairs];
}

function vyperModes({ settings, version }: TriedCompilation): readonly SettingChanges[] {
  if (compareVersions(version, OPTIMIZE_MODES_FROM) < 0) {
    return [{ optimize: settings['optimize'] === false }];
  }
  const { optimize: given = DEFAULT_MODE } = settings;
  return ['gas', 'codesize', 'none']
    .filter((each) => each !== given)
    .map((optimize) => ({ optimize }));
}
