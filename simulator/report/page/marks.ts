/**
 * Draws stages and incidents behind a chart as bands and lines, with their names above the chart.
 */
import type uPlot from 'uplot';
import type { ShownMark } from '../page-facts.ts';

const ROW_HEIGHT = 15;
/** Height of the two rows of names in CSS pixels: one for stages and one for incidents. */
export const MARKS_HEIGHT = 2 * ROW_HEIGHT + 4;

const GAP = 6;

/** Draws the marks within the visible range. */
export function drawMarks(
  plot: uPlot,
  marks: readonly ShownMark[],
  colour: (variable: string) => string,
): void {
  const { ctx } = plot;
  ctx.save();
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textBaseline = 'top';
  const stages = marks.filter(({ kind }) => kind === 'stage');
  for (const [index, mark] of stages.entries()) {
    if (index % 2 === 1) drawBand(plot, mark, colour('--sunken'));
  }
  const incidents = marks.filter(({ kind }) => kind === 'incident');
  for (const mark of incidents) {
    drawBand(plot, mark, colour('--pending-tint'));
    drawLine(plot, mark, colour('--pending'));
  }
  drawNames(plot, stages, { row: 0, colour: colour('--muted') });
  drawNames(plot, incidents, { row: 1, colour: colour('--pending') });
  ctx.restore();
}

/** Returns the left and right edge of a mark on the canvas, clipped to the chart. */
function positionOf(plot: uPlot, { from, to }: ShownMark): { left: number; right: number } {
  const { left, width } = plot.bbox;
  const at = (seconds: number): number =>
    Math.min(Math.max(plot.valToPos(seconds, 'x', true), left), left + width);
  return { left: at(from), right: at(to) };
}

function drawBand(plot: uPlot, mark: ShownMark, colour: string): void {
  const { left, right } = positionOf(plot, mark);
  plot.ctx.fillStyle = colour;
  plot.ctx.fillRect(left, plot.bbox.top, right - left, plot.bbox.height);
}

function drawLine(plot: uPlot, { from }: ShownMark, colour: string): void {
  const x = plot.valToPos(from, 'x', true);
  const { ctx, bbox } = plot;
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
}

/** Draws the names, except those that would overlap the previous name or leave the chart. */
function drawNames(
  plot: uPlot,
  marks: readonly ShownMark[],
  { row, colour }: { readonly row: number; readonly colour: string },
): void {
  const { ctx, bbox } = plot;
  const y = bbox.top - (MARKS_HEIGHT - row * ROW_HEIGHT) * devicePixelRatio;
  ctx.fillStyle = colour;
  let free = bbox.left;
  for (const mark of marks) {
    const { left, right } = positionOf(plot, mark);
    const isShown = right > left || (left > bbox.left && left < bbox.left + bbox.width);
    const end = left + ctx.measureText(mark.name).width;
    if (!isShown || left < free || end > bbox.left + bbox.width) continue;
    ctx.fillText(mark.name, left, y);
    free = end + GAP * devicePixelRatio;
  }
}
