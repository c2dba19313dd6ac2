/** EVM versions that Solidity compilers know by name, newest first; `default` is the compiler's own default. */
export const SOLIDITY_EVM_VERSIONS = [
  ...['default', 'osaka', 'prague', 'cancun', 'shanghai', 'paris', 'london', 'berlin'],
  ...['istanbul', 'petersburg', 'constantinople', 'byzantium', 'spuriousDragon'],
  ...['tangerineWhistle', 'homestead'],
] as const;

/** EVM versions that Vyper compilers know by name, newest first. */
export const VYPER_EVM_VERSIONS = [
  ...['default', 'prague', 'cancun', 'shanghai', 'paris', 'london', 'berlin', 'istanbul'],
  ...['petersburg', 'constantinople', 'byzantium'],
] as const;
