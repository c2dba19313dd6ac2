/** A ring by its form: what a form means is decided where it is drawn. */
export type RingShape = 'filled' | 'half' | 'dashed' | 'empty' | 'struck';

/** An SVG element that takes the colour of its text. */
export type RingPart =
  | readonly ['circle', Readonly<Record<string, string>>]
  | readonly ['path', Readonly<Record<string, string>>];

/** Side of the square that contains a ring. */
export const RING_SIZE = 16;

const CENTRE = { cx: '8', cy: '8' };
const OUTLINE = {
  ...{ ...CENTRE, r: '6.5', fill: 'none' },
  ...{ stroke: 'currentColor', 'stroke-width': '2' },
};
const INSIDE: Readonly<Partial<Record<RingShape, RingPart>>> = {
  filled: ['circle', { ...CENTRE, r: '4', fill: 'currentColor' }],
  half: ['path', { d: 'M8 2a6 6 0 0 0 0 12z', fill: 'currentColor' }],
  struck: ['path', { d: 'M3.6 12.4L12.4 3.6', stroke: 'currentColor', 'stroke-width': '2' }],
};

/** Returns the elements of a ring. Pages, badges and the icon draw the same ones. */
export function ringParts(shape: RingShape): readonly RingPart[] {
  const outline = shape === 'dashed' ? { ...OUTLINE, 'stroke-dasharray': '3.4 3.4' } : OUTLINE;
  const inside = INSIDE[shape];
  return inside === undefined ? [['circle', outline]] : [['circle', outline], inside];
}

/** Returns the elements of a ring as SVG text. */
export function renderRing(shape: RingShape): string {
  const render = ([tag, attributes]: RingPart): string => {
    const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`);
    return `<${tag}${written.join('')}/>`;
  };
  return ringParts(shape).map(render).join('');
}
