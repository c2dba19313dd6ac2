/**
 * The version of the rules by which codes are compared and replayed. It grows with each change that may judge the same codes
 * otherwise, so that matches of earlier versions can be found and judged again.
 */
export const MATCHER_VERSION = 2;
