/**
 * The timeline of the cases: a bar for each, in one lane for each parallel job, over an axis with the
 * time since the start of the run.
 */
import { Badge } from '../../../fixtures/page/badge.tsx';
import { Table } from '../../../fixtures/page/table.tsx';
import type { PageFacts, ShownVerdict } from '../page-facts.ts';
import { CaseLink } from './case-link.tsx';
import { toneOf, verdictOrder } from './labels.ts';

const LANE_HEIGHT = 18;
const BAR_HEIGHT = 14;
const WIDTH = 1000;
const SLOWEST_MAX = 20;
/** Most gaps between the ticks of the axis, so that their labels fit on a narrow page. */
const GAPS_MAX = 4;
/** Place on the axis behind which a label would leave a narrow page. */
const LABEL_BEFORE_PERCENT = 80;

/** Renders the bars, and a list of the slowest cases. */
export function Timeline({ facts: { verdicts, durationMs } }: { facts: PageFacts }) {
  const played = verdicts.filter((each) => each.durationMs > 0);
  const lanes = lanesOf(played);
  const totalMs = Math.max(durationMs, ...played.map((each) => each.startedMs + each.durationMs));
  const laneCount = Math.max(...lanes.values(), 0) + 1;
  const height = laneCount * LANE_HEIGHT;
  const slowest = played.toSorted((one, other) => other.durationMs - one.durationMs);
  return (
    <div class="report-stack" id="timeline">
      <p class="report-hint">
        Each bar is a case, from its start to its end; each of the {laneCount} rows is a parallel
        job.
      </p>
      <Legend verdicts={played} />
      <div>
        <svg
          viewBox={`0 0 ${WIDTH} ${height}`}
          preserveAspectRatio="none"
          height={height}
          role="img"
          aria-label={`${played.length} cases in ${totalMs} ms; the table below has the slowest`}
        >
          {played.map((each) => (
            <rect
              key={each.id}
              data-tone={toneOf(each.verdict)}
              x={(each.startedMs / totalMs) * WIDTH}
              y={(lanes.get(each) ?? 0) * LANE_HEIGHT}
              width={Math.max((each.durationMs / totalMs) * WIDTH, 1)}
              height={BAR_HEIGHT}
            >
              <title>{`${each.id}: ${each.verdict}, ${each.durationMs} ms`}</title>
            </rect>
          ))}
        </svg>
        <Axis totalMs={totalMs} />
      </div>
      <Table
        caption="The slowest cases"
        rows={slowest.slice(0, SLOWEST_MAX)}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Case', cell: ({ id }) => <CaseLink id={id} /> },
          {
            title: 'Verdict',
            cell: ({ verdict }) => <Badge tone={toneOf(verdict)}>{verdict}</Badge>,
          },
          { title: 'Began', cell: ({ startedMs }) => `${startedMs} ms` },
          { title: 'Took', cell: (each) => `${each.durationMs} ms` },
        ]}
      />
    </div>
  );
}

/** Names the colour of each verdict, with the number of its bars. */
function Legend({ verdicts }: { verdicts: readonly ShownVerdict[] }) {
  const counts = verdictOrder.flatMap((verdict) => {
    const count = verdicts.filter((each) => each.verdict === verdict).length;
    return count === 0 ? [] : [{ verdict, count }];
  });
  return (
    <ul class="legend" aria-label="Colours of the bars">
      {counts.map(({ verdict, count }) => (
        <li key={verdict}>
          <span class="swatch" data-tone={toneOf(verdict)} aria-hidden="true" /> {verdict} ({count})
        </li>
      ))}
    </ul>
  );
}

/** The axis under the bars: ticks at round times, and what they count. */
function Axis({ totalMs }: { totalMs: number }) {
  const stepMs = roundStep(totalMs / GAPS_MAX);
  const ticks = Array.from({ length: Math.floor(totalMs / stepMs) + 1 }, (_, at) => at * stepMs);
  return (
    <>
      <ol class="axis" aria-label="Time since the start of the run">
        {ticks.map((ms) => (
          <li key={ms} {...positionOf((100 * ms) / totalMs)}>
            {durationText(ms, stepMs)}
          </li>
        ))}
      </ol>
      <p class="axis-title">Time since the start of the run</p>
    </>
  );
}

/** Returns the attributes that place a tick; its label is before it near the end of the axis. */
function positionOf(percent: number) {
  return percent > LABEL_BEFORE_PERCENT
    ? { 'data-label': 'before', style: { right: `${100 - percent}%` } }
    : { style: { left: `${percent}%` } };
}

/** Returns the smallest of 1, 2, 5, 10, … that is at least `atLeast`. */
function roundStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(atLeast, 1)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= atLeast) ?? power;
}

/** Returns a time in the unit of the steps: whole seconds, tenths of them, or milliseconds. */
function durationText(ms: number, stepMs: number): string {
  if (stepMs < 100) return `${ms} ms`;
  return `${stepMs < 1000 ? (ms / 1000).toFixed(1) : ms / 1000} s`;
}

/** Assigns each case to the first lane that is free when the case starts. */
function lanesOf(verdicts: readonly ShownVerdict[]): ReadonlyMap<ShownVerdict, number> {
  const lanes = new Map<ShownVerdict, number>();
  const endsMs: number[] = [];
  for (const each of verdicts.toSorted((one, other) => one.startedMs - other.startedMs)) {
    const freeLane = endsMs.findIndex((endMs) => endMs <= each.startedMs);
    const lane = freeLane === -1 ? endsMs.length : freeLane;
    endsMs[lane] = each.startedMs + each.durationMs;
    lanes.set(each, lane);
  }
  return lanes;
}
