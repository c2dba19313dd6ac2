import { type WatchedPage } from './browser.ts';

/** The API page has several stops per route; this limit detects a page that traps the focus. */
const MAX_KEYS = 1_000;

/** State of the focus after a key press. */
export interface Stop {
  /** Accessible name of the element. */
  readonly name: string;
  readonly html: string;
  /** Whether it is visible and shows that it has the focus. */
  readonly isShown: boolean;
  /** Whether it equals the previous stop. */
  readonly isSame: boolean;
  /** Whether it follows the previous stop in page order. */
  readonly isOnward: boolean;
}

/** Returns the focused element; null if it is outside the page. It is marked for comparison with the next one. */
const STOP = `(() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return null;
  const before = document.querySelector('[data-stop]');
  before?.removeAttribute('data-stop');
  const html = element.outerHTML.slice(0, 200);
  element.setAttribute('data-stop', '');
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const { top, bottom, left, right } = element.getBoundingClientRect();
  const isInSight = bottom > top && right > left && bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  const label = element.labels?.[0] ?? document.getElementById(element.getAttribute('aria-labelledby'));
  return {
    name: (element.getAttribute('aria-label') ?? label?.textContent ?? element.textContent).trim(),
    html,
    isSame: before === element,
    isShown: isInSight && outlineStyle !== 'none' && parseFloat(outlineWidth) > 0,
    isOnward: before === null || (before.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) > 0,
  };
})()`;

const stopOf = ({ page }: WatchedPage): Promise<Stop | null> => page.evaluate<Stop | null>(STOP);

/**
 * Presses Tab from the beginning of the page until the focus leaves it.
 * @throws Error if it never does.
 */
export async function walkThrough(tab: WatchedPage): Promise<readonly Stop[]> {
  const stops: Stop[] = [];
  for (let key = 0; key < MAX_KEYS; key += 1) {
    await tab.page.keyboard.press('Tab');
    const stop = await stopOf(tab);
    if (stop === null) return stops;
    // A date field has several stops within it.
    if (!stop.isSame) stops.push(stop);
  }
  throw new Error(`The focus does not leave the page by ${MAX_KEYS} keys.`);
}

/**
 * Presses Tab until an element with this name has the focus.
 * @throws Error if none gets it.
 */
export async function tabTo(tab: WatchedPage, name: string | RegExp): Promise<Stop> {
  for (;;) {
    await tab.page.keyboard.press('Tab');
    const stop = await stopOf(tab);
    if (stop === null) throw new Error(`Nothing with the name ${name.toString()} follows.`);
    if (typeof name === 'string' ? stop.name === name : name.test(stop.name)) return stop;
  }
}

/** Scroll containers without a stop in or on them: their content is unreachable by keyboard. */
export const findUnreachable = ({ page }: WatchedPage): Promise<readonly string[]> =>
  page.evaluate(`[...document.querySelectorAll('main *')].filter((element) => {
    const { overflowX, overflowY } = getComputedStyle(element);
    const scrolls = (['auto', 'scroll'].includes(overflowX) && element.scrollWidth > element.clientWidth + 1)
      || (['auto', 'scroll'].includes(overflowY) && element.scrollHeight > element.clientHeight + 1);
    return scrolls && element.tabIndex < 0 && element.querySelector('a, button, summary, [tabindex="0"]') === null;
  }).map((element) => element.outerHTML.slice(0, 200))`);
