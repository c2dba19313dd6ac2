type Members = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};

/** Compiler settings that most often differ between machines, as text. */
export function describeSettings(settings: unknown): string {
  const { optimizer, evmVersion, viaIR, libraries } = membersOf(settings);
  const { enabled, runs } = membersOf(optimizer);
  const linked = Object.values(membersOf(libraries)).flatMap((each) =>
    typeof each === 'string' ? [each] : Object.keys(membersOf(each)),
  );
  return [
    `Optimizer: ${enabled === true ? `on${typeof runs === 'number' ? `, ${runs} runs` : ''}` : 'off'}`,
    `EVM version: ${typeof evmVersion === 'string' ? evmVersion : 'the compiler’s default'}`,
    ...(viaIR === true ? ['via IR'] : []),
    `libraries: ${linked.length === 0 ? 'none given; the addresses are read from the chain' : linked.length}`,
  ].join(' · ');
}
