/** Charts as SVG, made at render time; each has a text description. */
import { element, type Html } from './html-elements.ts';

const WIDTH = 900;
const HEIGHT = 220;
const LEFT = 70;
const BOTTOM = 30;
const TOP = 10;
const TICKS = 4;

/** A line of a chart. */
interface ChartLine {
  readonly name: string;
  /** One of the styles of the page: 1, 2, … */
  readonly style: number;
  /** Pairs of x and y; NaN leaves a gap. */
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Keeps its height until the next point, as for a count. */
  readonly steps?: boolean;
}

/** Contents of a chart. */
export interface ChartFacts {
  /** Description in one sentence. */
  readonly title: string;
  readonly lines: readonly ChartLine[];
  readonly xText: (x: number) => string;
  readonly yText: (y: number) => string;
}

/** Renders lines over a common x axis; both axes begin at zero. */
export function lineChart({ title, lines, xText, yText }: ChartFacts): Html {
  const all = lines.flatMap(({ points }) => points);
  if (all.length === 0) return element('p', { class: 'hint' }, `${title}: nothing to show.`);
  const xMax = roundMax(all.map(([x]) => x));
  const yMax = roundMax(all.map(([, y]) => y));
  const atX = (x: number): number => LEFT + (x / xMax) * (WIDTH - LEFT - 10);
  const atY = (y: number): number => TOP + (1 - y / yMax) * (HEIGHT - TOP - BOTTOM);
  const places = { atX, atY };
  const svg = element(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': title },
    element('title', {}, title),
    ...ticks().flatMap((share) => tickMarks(share, { xMax, yMax, xText, yText, ...places })),
    ...lines.map((line) =>
      element('path', { class: `line line-${line.style}`, d: pathOf(line, places) }),
    ),
  );
  return element('figure', {}, svg, element('figcaption', {}, `${title}. `, ...lines.map(legend)));
}

interface Places {
  readonly atX: (x: number) => number;
  readonly atY: (y: number) => number;
}

interface Axes extends Places {
  readonly xMax: number;
  readonly yMax: number;
  readonly xText: (x: number) => string;
  readonly yText: (y: number) => string;
}

function ticks(): readonly number[] {
  return Array.from({ length: TICKS + 1 }, (_, tick) => tick / TICKS);
}

function tickMarks(share: number, { xMax, yMax, xText, yText, atX, atY }: Axes): readonly Html[] {
  const y = round(atY(yMax * share));
  const x = round(atX(xMax * share));
  const anchor = share === 1 ? 'end' : 'middle';
  return [
    element('line', { class: 'grid', x1: LEFT, x2: WIDTH - 10, y1: y, y2: y }),
    element(
      'text',
      { class: 'tick', x: LEFT - 6, y: y + 4, 'text-anchor': 'end' },
      yText(yMax * share),
    ),
    element(
      'text',
      { class: 'tick', x, y: HEIGHT - 8, 'text-anchor': anchor },
      xText(xMax * share),
    ),
  ];
}

function legend({ name, style }: ChartLine): Html {
  return element('span', { class: `legend legend-${style}` }, name);
}

function pathOf({ points, steps = false }: ChartLine, { atX, atY }: Places): string {
  let path = '';
  let isUnderway = false;
  for (const [x, y] of points) {
    if (!Number.isFinite(y)) {
      isUnderway = false;
      continue;
    }
    const [px, py] = [round(atX(x)), round(atY(y))];
    if (!isUnderway) path += `M${px} ${py}`;
    else path += steps ? `H${px}V${py}` : `L${px} ${py}`;
    isUnderway = true;
  }
  return path;
}

/** Renders a row of bars, each with its name and count. */
export function barChart(
  title: string,
  rows: readonly (readonly [name: string, count: number, style: number])[],
  total: number,
): Html {
  const step = 26;
  const nameWidth = 150;
  const full = WIDTH - nameWidth - 100;
  const bars = rows.flatMap(([name, count, style], row) => {
    const width = total > 0 ? (count / total) * full : 0;
    const y = row * step;
    const share = total > 0 ? ` (${((100 * count) / total).toFixed(1)} %)` : '';
    return [
      element('text', { class: 'name', x: nameWidth - 8, y: y + 17, 'text-anchor': 'end' }, name),
      element('rect', {
        class: `bar bar-${style}`,
        x: nameWidth,
        y: y + 3,
        width: round(width),
        height: step - 6,
      }),
      element(
        'text',
        { class: 'count', x: round(nameWidth + width + 6), y: y + 17 },
        `${count}${share}`,
      ),
    ];
  });
  return element(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${rows.length * step}`, role: 'img', 'aria-label': title },
    element('title', {}, title),
    ...bars,
  );
}

/** Slightly above the largest value, so that ticks are round numbers. */
function roundMax(values: readonly number[]): number {
  const most = values.filter(Number.isFinite).reduce((one, other) => Math.max(one, other), 0);
  if (most <= 0) return 1;
  const magnitude = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 4, 5, 8, 10].find((each) => each * magnitude >= most) ?? 10;
  return step * magnitude;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
