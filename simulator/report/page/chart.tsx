/** One chart over the time of the run. All charts show the same range. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { usePrinting } from '../../../fixtures/page/printing.ts';
import type { ShownChart, ShownMark } from '../page-facts.ts';
import { optionsOf, type TimeRange } from './chart-options.ts';
import { clockText, exactNumber } from './clock-text.ts';

const HEIGHT = 230;
/** Width of a printed chart in CSS pixels, which fits on A4 and Letter. */
const PRINTED_WIDTH = 660;

/** Renders a chart with its title and its highest values as text. */
export function Chart({
  chart,
  marks,
  startsAt,
  range,
  onRange,
}: {
  chart: ShownChart;
  marks: readonly ShownMark[];
  startsAt: string;
  /** The visible range. */
  range: TimeRange;
  /** Called with the range that the reader selects, or without a range to show the whole run. */
  onRange: (range?: TimeRange) => void;
}) {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const isPrinting = usePrinting();
  useLayoutEffect(() => {
    if (!container.current) return;
    const chartInPage = { chart, marks, startsAt, container: container.current, onRange };
    const newPlot = new uPlot(
      { ...optionsOf(chartInPage), width: container.current.clientWidth, height: HEIGHT },
      [[...chart.seconds], ...chart.lines.map(({ values }) => [...values])],
      container.current,
    );
    plot.current = newPlot;
    return following(newPlot, container.current);
  }, [chart]);
  useLayoutEffect(() => plot.current?.setScale('x', { min: range.from, max: range.to }), [range]);
  useLayoutEffect(() => {
    const width = isPrinting ? PRINTED_WIDTH : container.current?.clientWidth;
    plot.current?.setSize({ width: width ?? PRINTED_WIDTH, height: HEIGHT });
    plot.current?.redraw(false);
  }, [isPrinting]);
  return (
    <figure class="chart" aria-label={chart.title}>
      <figcaption>
        <h3>{chart.title}</h3>
        <p class="report-hint">{highestText(chart)}</p>
      </figcaption>
      <p class="axis-title">↑ {chart.axis}</p>
      <div class="plot" ref={container} />
    </figure>
  );
}

/**
 * Adapts the chart to the width of the page and to its colour scheme. Returns a function that
 * destroys the chart.
 */
function following(plot: uPlot, container: HTMLElement): () => void {
  const paper = matchMedia('print');
  const sizes = new ResizeObserver(() => {
    // The printed chart has a fixed width.
    if (!paper.matches && container.clientWidth !== plot.width) {
      plot.setSize({ width: container.clientWidth, height: HEIGHT });
    }
  });
  sizes.observe(container);
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  const recolour = (): void => plot.redraw(false);
  scheme.addEventListener('change', recolour);
  return () => {
    sizes.disconnect();
    scheme.removeEventListener('change', recolour);
    plot.destroy();
  };
}

function highestText({ lines, unit, seconds }: ShownChart): string {
  const peaks = lines.flatMap(({ name, values }) => {
    const numbers = values.filter((value) => value !== null);
    if (numbers.length === 0) return [];
    const max = numbers.reduce((one, other) => Math.max(one, other));
    const at = seconds[values.indexOf(max)] ?? 0;
    return [`${name} ${exactNumber(max)}${unit} at ${clockText(at)}`];
  });
  return peaks.length > 0 ? `Highest: ${peaks.join(', ')}` : 'Nothing to show.';
}
