const MATCH_ID = /^[0-9]{1,19}$/;
/** Largest bigint of PostgreSQL. */
const LAST_MATCH_ID = 2n ** 63n - 1n;

/** Returns whether a text is a match id, which is also the cursor of lists sorted newest first. Accepts any text. */
export function isMatchId(text: string): boolean {
  return MATCH_ID.test(text) && BigInt(text) <= LAST_MATCH_ID;
}
