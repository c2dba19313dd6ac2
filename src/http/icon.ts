import { renderRing, RING_SIZE } from '../lib/ring-shapes.ts';
import { answer, REVALIDATED, type Answer } from './answer.ts';

// The mark of a full match, in a green that is visible on light and dark tabs.
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${RING_SIZE} ${RING_SIZE}" color="#17936b">${renderRing('filled')}</svg>`;

/** Serves the icon of both hosts. */
export function answerIcon(): Answer {
  return answer(ICON, {
    type: 'image/svg+xml',
    cacheControl: REVALIDATED,
    headers: { 'content-security-policy': "default-src 'none'" },
  });
}
