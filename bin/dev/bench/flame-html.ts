/** A CPU profile as one self-contained page: a flame graph, then the functions by their own time. */
import { selfContainedPage } from '../../../fixtures/markup.ts';
import { type Frame, functionTimes } from './flame-tree.ts';
import { element, type Html, section, table } from './html-elements.ts';
import { benchStyle } from './style.ts';

const WIDTH = 1200;
const ROW = 17;
/** A frame that would be narrower is left out, with all below it. */
const WIDTH_MIN = 0.5;
const CHARACTER_WIDTH = 6.5;
const FUNCTIONS_SHOWN = 60;

/** Renders the page; a frame's tooltip has its place and times. */
export function flameHtml(title: string, root: Frame): string {
  const share = (ms: number): string => `${((100 * ms) / root.totalMs).toFixed(1)} %`;
  const rows = functionTimes(root)
    .slice(0, FUNCTIONS_SHOWN)
    .map(({ name, place, selfMs, totalMs }) => [name, place, share(selfMs), share(totalMs)]);
  const body = element(
    'main',
    {},
    element('h1', {}, title),
    element('p', {}, `${Math.round(root.totalMs)} ms of CPU time; the wider, the more of it.`),
    section('graph', 'Flame graph', graph(root, share)),
    section('functions', 'Functions', table('By time of their own', columns, rows)),
  );
  return selfContainedPage({ title, style: benchStyle(), body: body.toString() });
}

const columns = ['function', 'place', 'self', 'total'];

type Share = (ms: number) => string;

function graph(root: Frame, share: Share): Html {
  const frames: Html[] = [];
  let depthMax = 0;
  const draw = (frame: Frame, x: number, depth: number): void => {
    const width = (frame.totalMs / root.totalMs) * WIDTH;
    if (!(width >= WIDTH_MIN)) return;
    depthMax = Math.max(depthMax, depth);
    frames.push(box(frame, { x, y: depth * ROW, width }, share));
    let left = x;
    for (const child of frame.children) {
      draw(child, left, depth + 1);
      left += (child.totalMs / root.totalMs) * WIDTH;
    }
  };
  draw(root, 0, 0);
  const label = 'Flame graph: callers above, what they call below';
  const viewBox = `0 0 ${WIDTH} ${(depthMax + 1) * ROW}`;
  return element('svg', { viewBox, role: 'img', 'aria-label': label }, ...frames);
}

function box(
  { name, place, from, selfMs, totalMs }: Frame,
  { x, y, width }: { readonly x: number; readonly y: number; readonly width: number },
  share: Share,
): Html {
  const fits = Math.floor((width - 4) / CHARACTER_WIDTH);
  const times = `total ${share(totalMs)}, self ${share(selfMs)}`;
  const at = { x: rounded(x), y, width: rounded(width), height: ROW - 1 };
  const text = { x: rounded(x + 2), y: y + ROW - 5 };
  return element(
    'g',
    { class: 'frame', 'data-from': from },
    element('title', {}, `${name} ${place}: ${times}`),
    element('rect', at),
    ...(fits >= 3 ? [element('text', text, name.slice(0, fits))] : []),
  );
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
