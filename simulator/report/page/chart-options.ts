/**
 * Options of uPlot for a chart: axes, a cursor shared by all charts, and marks behind the lines.
 */
import uPlot from 'uplot';
import type { ShownChart, ShownLine, ShownMark, ShownTone } from '../page-facts.ts';
import { clockText, exactNumber, shortNumber, timeSteps } from './clock-text.ts';
import { drawMarks, MARKS_HEIGHT } from './marks.ts';

/** A range of the run, in seconds since the start of the load. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** A chart with the element that contains it and its callback. */
export interface ChartInPage {
  readonly chart: ShownChart;
  readonly marks: readonly ShownMark[];
  /** Time of second 0, in ISO 8601 and UTC. */
  readonly startsAt: string;
  readonly container: HTMLElement;
  readonly onRange: (range?: TimeRange) => void;
}

const SELECTED_MIN_PIXELS = 5;
const SELECTED_MIN_SECONDS = 2;
const AXIS_WIDTH = 66;
/** Factor by which the axis exceeds the highest value. */
const HEADROOM = 1.08;

/** Draws a stepped line, because a count stays constant until the next value. */
const steps = uPlot.paths.stepped?.({ align: 1 });

const tones: Readonly<Record<ShownTone, string>> = {
  positive: '--positive',
  pending: '--pending',
  negative: '--negative',
  info: '--info',
  plain: '--muted',
};

/** Returns the options of a chart without its size. */
export function optionsOf(chartInPage: ChartInPage): Omit<uPlot.Options, 'width' | 'height'> {
  const { chart, marks, startsAt, container } = chartInPage;
  const colour = (variable: string) => (): string => colourOf(container, variable);
  const axis = { stroke: colour('--muted'), font: '12px system-ui, sans-serif' };
  const grid = { stroke: colour('--line'), width: 1 };
  return {
    padding: [marks.length > 0 ? MARKS_HEIGHT : 8, 30, 0, 0],
    cursor: cursorOf(chartInPage),
    // The colours come from CSS, because a fixed colour would not follow a change of the theme.
    legend: { markers: { show: false, stroke: () => 'inherit' } },
    scales: {
      x: { time: false, range: (_, min, max) => [min, max] },
      y: { range: (_, __, max) => [0, max > 0 ? max * HEADROOM : 1] },
    },
    axes: [
      {
        ...axis,
        grid,
        ticks: grid,
        values: each(clockText),
        incrs: [...timeSteps],
        space: 70,
        size: 34,
        label: 'time since the start of the load, in m:ss',
        labelSize: 18,
        labelFont: axis.font,
      },
      { ...axis, grid, ticks: grid, size: AXIS_WIDTH, values: each(shortNumber) },
    ],
    series: [
      { label: 'Time', value: (_, seconds) => timeText(startsAt, seconds) },
      ...chart.lines.map((line) => seriesOf(line, chart.unit, colour(tones[line.tone]))),
    ],
    hooks: {
      drawClear: [(plot) => drawMarks(plot, marks, (variable) => colourOf(container, variable))],
      setSelect: [(plot) => reportSelection(plot, chartInPage)],
    },
  };
}

function each(text: (value: number) => string): uPlot.Axis.DynamicValues {
  return (_, splits) => splits.map((value) => text(value));
}

function cursorOf({ onRange }: ChartInPage): uPlot.Cursor {
  return {
    y: false,
    drag: { x: true, y: false, setScale: false },
    sync: { key: 'run', filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' } },
    bind: {
      dblclick: () => () => {
        onRange();
        return null;
      },
    },
  };
}

function seriesOf(
  { name, tone, isDashed = false, hasSteps = false }: ShownLine,
  unit: string,
  stroke: () => string,
): uPlot.Series {
  return {
    label: name,
    class: isDashed ? `tone-${tone}-dashed` : `tone-${tone}`,
    stroke,
    width: 2,
    points: { show: false },
    value: (_, value) => (value === null ? '–' : `${exactNumber(value)}${unit}`),
    ...(isDashed && { dash: [6, 4] }),
    ...(hasSteps && steps && { paths: steps }),
  };
}

function reportSelection(plot: uPlot, { onRange }: ChartInPage): void {
  const { left, width } = plot.select;
  if (width < SELECTED_MIN_PIXELS) return;
  const from = plot.posToVal(left, 'x');
  const to = Math.max(plot.posToVal(left + width, 'x'), from + SELECTED_MIN_SECONDS);
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  onRange({ from, to });
}

function timeText(startsAt: string, seconds: number | null): string {
  if (seconds === null) return '–';
  const time = new Date(Date.parse(startsAt) + 1000 * seconds).toISOString();
  return `${clockText(seconds)} (${time.slice(0, 19).replace('T', ' ')} UTC)`;
}

/** Returns a colour of the theme as a value that a canvas accepts. */
function colourOf(container: HTMLElement, variable: string): string {
  container.style.color = `var(${variable})`;
  const { color } = getComputedStyle(container);
  container.style.color = '';
  return color;
}
