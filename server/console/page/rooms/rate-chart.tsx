/** Requests and errors per second of the last minutes. */
import 'uplot/dist/uPlot.min.css';
import { effect, untracked } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import { every, nowMs } from '../api/browser-clock.ts';
import { askJson } from '../api/client.ts';
import { onActivity } from '../api/live.ts';
import { tenant } from '../api/session.ts';
import { timeOfDay } from '../parts/texts.ts';
import { theme } from '../theme.ts';

const SECONDS_SHOWN = 180;
const HEIGHT_PIXELS = 180;
/** Entries of the journal that are read at most. */
const EARLIER_MAX = 500;

/** Requests of each second, kept while the page is open. */
const seconds = new Map<number, { requests: number; errors: number }>();
/** IDs of requests from the live stream, which the journal may repeat; kept until it has been read. */
let shownLive: Set<string> | undefined;

function count(second: number, status: number): void {
  const counted = seconds.get(second) ?? { requests: 0, errors: 0 };
  counted.requests += 1;
  if (status === 0 || status >= 400) counted.errors += 1;
  seconds.set(second, counted);
}

onActivity(({ status, requestId }) => {
  const second = Math.floor(nowMs() / 1000);
  shownLive?.add(requestId);
  count(second, status);
  for (const old of seconds.keys()) {
    if (old < second - SECONDS_SHOWN) seconds.delete(old);
  }
});

/** What was answered before the page was opened, as far as the journal has it. */
async function countEarlier(): Promise<void> {
  const shownIds = new Set<string>();
  shownLive = shownIds;
  seconds.clear();
  // Without a journal there is nothing earlier to show.
  const page = await askJson('GET /journal', { query: { limit: EARLIER_MAX } }).catch(
    () => undefined,
  );
  // Entries have the time of the tenant, which may have been moved.
  const clock = await askJson('GET /clock').catch(() => undefined);
  const aheadMs = clock ? Date.parse(clock.now) - nowMs() : 0;
  // Another tenant may have been chosen meanwhile.
  if (shownLive !== shownIds) return;
  shownLive = undefined;
  for (const { kind, at, requestId, status = 0 } of page?.entries ?? []) {
    if (kind === 'exchange' && !shownIds.has(requestId)) {
      count(Math.floor((Date.parse(at) - aheadMs) / 1000), status);
    }
  }
}

effect(() => {
  void tenant.value;
  // It reads the token, whose end is no reason to ask again.
  void untracked(countEarlier);
});

function dataNow(): UPlot.AlignedData {
  const last = Math.floor(nowMs() / 1000) - 1;
  const moments = Array.from({ length: SECONDS_SHOWN }, (_, at) => last - SECONDS_SHOWN + 1 + at);
  const counted = moments.map((second) => seconds.get(second));
  return [
    moments,
    counted.map((each) => each?.requests ?? 0),
    counted.map((each) => each?.errors ?? 0),
  ];
}

/** The chart, and the same in words. */
export default function RateChart() {
  const frame = useRef<HTMLDivElement>(null);
  const words = useRef<HTMLParagraphElement>(null);
  const shownTheme = theme.value;
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    element.dataset.theme = shownTheme;
    const chart = new UPlot(optionsFor(element), dataNow(), element);
    const observer = new ResizeObserver(() =>
      chart.setSize({ width: element.clientWidth, height: HEIGHT_PIXELS }),
    );
    observer.observe(element);
    const stop = every(1000, () => {
      const data = dataNow();
      chart.setData(data);
      if (words.current) words.current.textContent = wordsOf(data);
    });
    return () => {
      stop();
      observer.disconnect();
      chart.destroy();
    };
  }, [shownTheme]);
  return (
    <>
      <div ref={frame} class="chart" role="img" aria-label="Requests and errors per second" />
      <p ref={words} class="quiet">
        {wordsOf(dataNow())}
      </p>
    </>
  );
}

function wordsOf([, requests = [], errors = []]: UPlot.AlignedData): string {
  const sum = (values: ArrayLike<number | null | undefined>): number =>
    Array.from(values).reduce<number>((all, value) => all + (value ?? 0), 0);
  return `${sum(requests)} requests and ${sum(errors)} refusals or errors in the last ${SECONDS_SHOWN / 60} minutes; ${requests[requests.length - 1] ?? 0} requests in the last second.`;
}

/** As everywhere in the page: 24 hours, UTC. */
const timeText = (second: number): string => timeOfDay(new Date(second * 1000).toISOString());

function optionsFor(element: HTMLElement): UPlot.Options {
  const style = getComputedStyle(element);
  // A canvas does not support custom properties: the tokens are resolved to colours.
  const colour = (name: string): string => {
    element.style.color = `var(${name})`;
    return getComputedStyle(element).color;
  };
  const font = `12px ${style.fontFamily}`;
  const axis = { font, stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 } };
  const options: UPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT_PIXELS,
    legend: { show: false },
    scales: { y: { range: (_, __, most) => [0, Math.max(most, 5)] } },
    axes: [
      { ...axis, space: 90, values: (_, moments) => moments.map(timeText) },
      { ...axis, size: 44 },
    ],
    series: [
      {},
      { label: 'requests', stroke: colour('--accent'), width: 2, points: { show: false } },
      { label: 'errors', stroke: colour('--bad'), width: 2, points: { show: false } },
    ],
  };
  element.style.color = '';
  return options;
}
