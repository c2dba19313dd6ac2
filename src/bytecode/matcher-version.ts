/**
 * Version of the rules for comparing and replaying bytecode. Increased with each change that may lead to
 * another verdict, so that matches of earlier versions can be found and judged again.
 */
export const MATCHER_VERSION = 2;
