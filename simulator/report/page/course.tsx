/** The charts of the run, which share one time axis. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { Card } from '../../../fixtures/page/card.tsx';
import { Choice } from '../../../fixtures/page/field.tsx';
import { usePrinting } from '../../../fixtures/page/printing.ts';
import type { ShownCourse, ShownMark } from '../page-facts.ts';
import { Chart } from './chart.tsx';
import type { TimeRange } from './chart-options.ts';
import { clockText } from './clock-text.ts';

/** Margin around a selected incident: a number of seconds, and a share of its length. */
const ROOM_SECONDS = 5;
const ROOM_SHARE = 0.25;

/** Renders the charts and the selection of their range. */
export function RunTimeline({ course }: { course: ShownCourse }) {
  const { charts, marks, hint, startsAt } = course;
  const fullRange: TimeRange = { from: 0, to: Math.max(course.endSeconds, 1) };
  const [range, setRange] = useState(fullRange);
  const show = (newRange: TimeRange = fullRange): void => setRange(newRange);
  useLightPrint();
  const drawnCharts = charts.filter(({ seconds }) => seconds.length > 0);
  if (drawnCharts.length === 0) {
    return (
      <div id="course">
        <Card title="The run over time">
          <p class="report-hint">No data over time was recorded.</p>
        </Card>
      </div>
    );
  }
  return (
    <div id="course">
      <Card title="The run over time">
        <div class="report-stack">
          <RangeChoice marks={marks} range={range} whole={fullRange} onRange={show} />
          <p class="report-hint">
            Drag over a chart to zoom all of them, double-click to zoom out. {hint} 0:00 is{' '}
            {startsAt}.
          </p>
          <MarkList marks={marks} />
          {drawnCharts.map((chart) => (
            <Chart
              key={chart.title}
              chart={chart}
              marks={marks}
              startsAt={startsAt}
              range={range}
              onRange={show}
            />
          ))}
        </div>
      </Card>
    </div>
  );
}

/** Uses the light theme while the page is printed, because paper is white. */
function useLightPrint(): void {
  const isPrinting = usePrinting();
  useLayoutEffect(() => {
    if (isPrinting) document.documentElement.dataset.theme = 'light';
    else delete document.documentElement.dataset.theme;
  }, [isPrinting]);
}

function RangeChoice({
  marks,
  range,
  whole,
  onRange,
}: {
  marks: readonly ShownMark[];
  range: TimeRange;
  whole: TimeRange;
  onRange: (range?: TimeRange) => void;
}) {
  const ranges = marks.map((mark) => rangeOf(mark, whole));
  const isSame = (one: TimeRange): boolean => one.from === range.from && one.to === range.to;
  const rangeName = isSame(whole) ? 'whole' : String(ranges.findIndex(isSame));
  return (
    <form class="report-row" aria-label="Zoom" onSubmit={(event) => event.preventDefault()}>
      <Choice
        label="Range of the run"
        value={rangeName}
        choices={[
          ['whole', 'the whole run'],
          ...(rangeName === '-1' ? [['-1', 'a part'] as const] : []),
          ...marks.map((mark, index) => [String(index), markText(mark)] as const),
        ]}
        onChoose={(value) => onRange(ranges[Number(value)])}
      />
      <output id="shown-range" aria-live="polite">
        {clockText(range.from)} to {clockText(range.to)}
      </output>
      <button type="button" class="kit-button" disabled={isSame(whole)} onClick={() => onRange()}>
        Show the whole run
      </button>
    </form>
  );
}

/** Returns the range to show for a stage or an incident. */
function rangeOf({ kind, from, to }: ShownMark, whole: TimeRange): TimeRange {
  if (kind === 'stage' && to > from) return { from, to };
  const room = ROOM_SECONDS + (to - from) * ROOM_SHARE;
  return { from: Math.max(whole.from, from - room), to: Math.min(whole.to, to + room) };
}

function markText({ name, kind, from, to }: ShownMark): string {
  const when = to > from ? `${clockText(from)} to ${clockText(to)}` : clockText(from);
  return kind === 'incident' ? `incident ${name}, ${when}` : `stage ${name}, ${when}`;
}

function MarkList({ marks }: { marks: readonly ShownMark[] }) {
  const incidents = marks.filter(({ kind }) => kind === 'incident');
  if (incidents.length === 0) return null;
  return (
    <ul class="report-list" id="incidents">
      {incidents.map((mark) => (
        <li key={markText(mark)}>{markText(mark)}</li>
      ))}
    </ul>
  );
}
