import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AxeResults } from 'axe-core';
import { type WatchedPage } from './browser.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
let axe: string | undefined;

/**
 * Findings of axe in a page, each with its elements.
 * @param rules the rules to check; by default all, including target size
 */
export async function findWithAxe(
  { page }: WatchedPage,
  rules?: readonly string[],
): Promise<readonly string[]> {
  // The page's policy permits only its own scripts; `evaluate` bypasses it.
  const isThere = await page.evaluate<boolean>('window.axe !== undefined');
  if (!isThere) await page.evaluate((axe ??= readFileSync(AXE, 'utf8')));
  const chosen =
    rules === undefined
      ? { rules: { 'target-size': { enabled: true } } }
      : { runOnly: { type: 'rule', values: rules } };
  const options = JSON.stringify({ resultTypes: ['violations'], ...chosen });
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${options})`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n')}`);
}

/** Computed colours, including forced ones, which axe ignores, and their WCAG 2.2 contrast. */
const COLOURS = `
  const partsOf = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const isSeen = (colour) => colour !== 'none' && partsOf(colour)[3] !== 0;
  const luminance = (colour) => {
    const [red, green, blue] = partsOf(colour).map((part) =>
      part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const grounds = new Map([[null, 'rgb(255, 255, 255)']]);
  const groundOf = (element) => {
    if (!grounds.has(element)) {
      const { backgroundColor } = getComputedStyle(element);
      grounds.set(element, isSeen(backgroundColor) ? backgroundColor : groundOf(element.parentElement));
    }
    return grounds.get(element);
  };
  const stands = (colour, element, ratio) => isSeen(colour) && contrast(colour, groundOf(element)) >= ratio;
  const isThere = (element) =>
    element.checkVisibility({ visibilityProperty: true }) && element.closest('.unseen') === null;
  const seen = (selector) => [...document.querySelectorAll(selector)].filter(isThere);
  const named = (element) => element.outerHTML.slice(0, 160);`;

const run = <Result>({ page }: WatchedPage, expression: string): Promise<Result> =>
  page.evaluate<Result>(`(() => {${COLOURS}\nreturn ${expression};})()`);

/** Elements whose text contrasts with its background less than this ratio. */
export const findFaintTexts = (tab: WatchedPage, ratio: number): Promise<readonly string[]> =>
  run(
    tab,
    `seen('body *').filter((element) => !(element instanceof SVGElement) && !element.matches('script, :disabled')
      && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
      && !stands(getComputedStyle(element).color, element, ${ratio})).map(named)`,
  );

/**
 * Drawn shapes with a contrast below 3 to 1. Grids, backgrounds and the empty part of a bar carry no
 * information; patterns are checked by eye.
 */
export const findFaintShapes = (tab: WatchedPage): Promise<readonly string[]> =>
  run(
    tab,
    `seen('main svg :is(path, rect, circle, line, text)').filter((shape) => {
      const colours = [getComputedStyle(shape).fill, getComputedStyle(shape).stroke];
      return !shape.matches('.rest, .chart-ground, .chart-axes *, defs *')
        && !colours.some((colour) => colour.startsWith('url') || stands(colour, shape, 3));
    }).map(named)`,
  );

/** Boxes that neither a contrasting background nor a border sets apart. */
export const findBareBoxes = (tab: WatchedPage): Promise<readonly string[]> =>
  run(
    tab,
    `seen('main :is(button, .button, input:not([type=file]), select, pre, .tag, .notice, .verdict, .hidden-character)')
      .filter((box) => {
        const { borderLeftStyle, borderLeftWidth, borderLeftColor, backgroundColor } = getComputedStyle(box);
        const isFramed = borderLeftStyle !== 'none' && parseFloat(borderLeftWidth) > 0;
        return !stands(backgroundColor, box.parentElement, 3)
          && !(isFramed && stands(borderLeftColor, box.parentElement, 3));
      }).map(named)`,
  );

/** Interactive, scrolling, overflowing or dark elements, which do not work on paper. */
export const findFaultsOnPaper = (tab: WatchedPage): Promise<readonly string[]> =>
  run(
    tab,
    `seen('body *').flatMap((element) => {
      const { overflowX, position } = getComputedStyle(element);
      const { right, width } = element.getBoundingClientRect();
      const faults = {
        'asks for a hand': element.matches('button, .button, input, select, textarea, nav[aria-label="Pages"]'),
        'leaves the paper': right > document.documentElement.clientWidth + 1,
        'scrolls': overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1,
        'stays in place': ['sticky', 'fixed'].includes(position),
        'is dark': width > 0 && contrast(groundOf(element), 'rgb(255, 255, 255)') > 3,
      };
      return Object.keys(faults).filter((fault) => faults[fault]).map((fault) => fault + ': ' + named(element));
    })`,
  );

/** Number of visible table rows. */
export const countRows = (tab: WatchedPage): Promise<number> => run(tab, `seen('main tr').length`);

/** Number of running animations and transitions. */
export const countAnimations = (tab: WatchedPage): Promise<number> =>
  run(tab, 'document.getAnimations().length');
