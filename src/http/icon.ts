import { answer, REVALIDATED, type Answer } from './answer.ts';

// The mark of a full match (web/src/parts/match-mark.tsx), in a green that is visible on light and dark tabs.
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.5" fill="none" stroke="#17936b" stroke-width="2"/><circle cx="8" cy="8" r="4" fill="#17936b"/></svg>';

/** Serves the icon of both hosts. */
export function answerIcon(): Answer {
  return answer(ICON, {
    type: 'image/svg+xml',
    cacheControl: REVALIDATED,
    headers: { 'content-security-policy': "default-src 'none'" },
  });
}
