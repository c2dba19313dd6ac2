/** Where Blockscout's services answer: below a base of its own, which has its own /health, and at the root for bases without path. */
export const BASES = ['/blockscout', ''];
