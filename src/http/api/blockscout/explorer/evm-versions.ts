/** The EVM versions that compilers of Solidity know by name, newest first; `default` is the compiler's own. */
export const SOLIDITY_EVM_VERSIONS = [
  ...['default', 'osaka', 'prague', 'cancun', 'shanghai', 'paris', 'london', 'berlin'],
  ...['istanbul', 'petersburg', 'constantinople', 'byzantium', 'spuriousDragon'],
  ...['tangerineWhistle', 'homestead'],
] as const;

/** The same of Vyper. */
export const VYPER_EVM_VERSIONS = [
  ...['default', 'prague', 'cancun', 'shanghai', 'paris', 'london', 'berlin', 'istanbul'],
  ...['petersburg', 'constantinople', 'byzantium'],
] as const;
