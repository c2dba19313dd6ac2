import { answer, REVALIDATED, type Answer } from './answer.ts';

// Two equal bars: what was deployed and what was compiled. The colour shows on light and dark tabs.
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#3b82f6" d="M2 3h12v4H2zM2 9h12v4H2z"/></svg>';

/** The icon of both hosts. */
export function answerIcon(): Answer {
  return answer(ICON, {
    type: 'image/svg+xml',
    cacheControl: REVALIDATED,
    headers: { 'content-security-policy': "default-src 'none'" },
  });
}
