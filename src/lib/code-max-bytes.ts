/** Maximum bytecode size in bytes: EIP-170 allows 24,576, some chains several times as much. */
export const CODE_MAX_BYTES = 1_000_000;
