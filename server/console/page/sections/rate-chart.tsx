/** A chart of requests and errors per second, from the counts of the server. */
import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import UPlot from 'uplot';
import { countText } from '../../../../fixtures/base/count-text.ts';
import { Choice } from '../../../../fixtures/page/field.tsx';
import { repeatEvery } from '../api/browser-clock.ts';
import { requestJson } from '../api/client.ts';
import { tenant } from '../api/session.ts';
import type { RequestCountsView } from '../api/types.ts';
import { timeOfDay } from '../parts/texts.ts';
import { theme } from '../theme.ts';

const HEIGHT_PIXELS = 180;
const MINUTES_SHOWN = 3;
const periods = [
  [String(MINUTES_SHOWN), '3 minutes'],
  ['15', '15 minutes'],
  ['60', '1 hour'],
] as const;

/**
 * Returns the data of the chart. Seconds without a count are null, which leaves a gap in the lines.
 */
function dataOf(counts: RequestCountsView | undefined): UPlot.AlignedData {
  const { fromSecond = 0, requests = [], errors = [] } = counts ?? {};
  return [requests.map((_, at) => fromSecond + at), [...requests], [...errors]];
}

/** Renders the chart, and a sentence with the totals of the period. */
export default function RateChart() {
  const frame = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot>();
  const [minutes, setMinutes] = useState(MINUTES_SHOWN);
  const [counts, setCounts] = useState<RequestCountsView>();
  const shownTheme = theme.value;
  const shownTenant = tenant.value;
  useEffect(() => {
    let isOver = false;
    const load = async (): Promise<void> => {
      const query = { seconds: 60 * minutes };
      // If the server does not respond, the chart keeps its data until the next successful request.
      const loadedCounts = await requestJson('GET /request-counts', { query }).catch(
        () => undefined,
      );
      if (loadedCounts && !isOver) setCounts(loadedCounts);
    };
    setCounts(undefined);
    void load();
    const stop = repeatEvery(1000, () => void load());
    return () => {
      isOver = true;
      stop();
    };
  }, [minutes, shownTenant]);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    element.dataset.theme = shownTheme;
    const plot = new UPlot(optionsFor(element), dataOf(counts), element);
    chart.current = plot;
    const observer = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: HEIGHT_PIXELS }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [shownTheme]);
  useEffect(() => chart.current?.setData(dataOf(counts)), [counts]);
  return (
    <>
      <div class="filters">
        <Choice
          label="Period"
          value={String(minutes)}
          choices={periods}
          onChoose={(value) => setMinutes(Number(value))}
        />
      </div>
      <div ref={frame} class="chart" role="img" aria-label="Requests and errors per second" />
      <p class="muted">{counts ? labelOf(counts) : 'Loading the counts.'}</p>
    </>
  );
}

function labelOf({ requests, errors }: RequestCountsView): string {
  const sum = (values: readonly (number | null)[]): number =>
    values.reduce<number>((all, value) => all + (value ?? 0), 0);
  const secondsKnown = requests.filter((value) => value !== null).length;
  const since = secondsKnown < requests.length ? ', since the server was started' : '';
  const period =
    secondsKnown < 60
      ? countText(secondsKnown, 'second')
      : countText(Math.floor(secondsKnown / 60), 'minute');
  return `${sum(requests)} requests and ${sum(errors)} refusals or errors in the last ${period}${since}; ${requests.at(-1) ?? 0} requests in the last second.`;
}

/** Formats the time in UTC with 24 hours, as the rest of the page does. */
const timeText = (second: number): string => timeOfDay(new Date(second * 1000).toISOString());

function optionsFor(element: HTMLElement): UPlot.Options {
  const style = getComputedStyle(element);
  // A canvas cannot use custom properties, so each token is resolved to its colour.
  const colour = (name: string): string => {
    element.style.color = `var(${name})`;
    return getComputedStyle(element).color;
  };
  const font = `12px ${style.fontFamily}`;
  const axis = { font, stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 } };
  const options: UPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT_PIXELS,
    legend: { live: false },
    scales: { y: { range: (_, __, max) => [0, Math.max(max, 5)] } },
    axes: [
      { ...axis, space: 90, values: (_, times) => times.map(timeText) },
      { ...axis, size: 44 },
    ],
    series: [
      {},
      { label: 'requests', stroke: colour('--accent'), width: 2, points: { show: false } },
      {
        label: 'refusals and errors',
        stroke: colour('--negative'),
        width: 2,
        points: { show: false },
      },
    ],
  };
  element.style.color = '';
  return options;
}
