/**
 * Base paths of Blockscout's services: one of our own, which has its own /health, and the root for clients
 * whose base URL has no path.
 */
export const BLOCKSCOUT_BASE_PATHS = ['/blockscout', ''];
