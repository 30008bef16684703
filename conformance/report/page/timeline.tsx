/** The timeline of the cases: a bar for each, in one lane for each parallel job. */
import { Badge } from '../../../fixtures/page/badge.tsx';
import { Table } from '../../../fixtures/page/table.tsx';
import type { PageFacts, ShownVerdict } from '../page-facts.ts';
import { CaseLink } from './case-link.tsx';
import { toneOf } from './words.ts';

const LANE_HEIGHT = 18;
const BAR_HEIGHT = 14;
const WIDTH = 1000;
const SLOWEST_MAX = 20;

/** Renders the bars, and a list of the slowest cases. */
export function Timeline({ facts: { verdicts, durationMs } }: { facts: PageFacts }) {
  const played = verdicts.filter((each) => each.durationMs > 0);
  const lanes = lanesOf(played);
  const totalMs = Math.max(durationMs, ...played.map((each) => each.startedMs + each.durationMs));
  const height = (Math.max(...lanes.values(), 0) + 1) * LANE_HEIGHT;
  const slowest = played.toSorted((one, other) => other.durationMs - one.durationMs);
  return (
    <div class="report-stack" id="timeline">
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
      <Table
        caption="The slowest cases"
        stacks
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

/** Assigns each case to the first lane that is free when the case starts. */
function lanesOf(verdicts: readonly ShownVerdict[]): ReadonlyMap<ShownVerdict, number> {
  const lanes = new Map<ShownVerdict, number>();
  const endsMs: number[] = [];
  for (const each of verdicts.toSorted((one, other) => one.startedMs - other.startedMs)) {
    const free = endsMs.findIndex((endMs) => endMs <= each.startedMs);
    const lane = free === -1 ? endsMs.length : free;
    endsMs[lane] = each.startedMs + each.durationMs;
    lanes.set(each, lane);
  }
  return lanes;
}
