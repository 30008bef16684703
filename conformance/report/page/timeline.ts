/** When each case was played: a bar for each, in as many lanes as were played at a time. */
import { byId, element, table, verdictMark } from './element.ts';
import type { PageFacts, ShownVerdict } from './facts.ts';

const LANE_HEIGHT = 18;
const BAR_HEIGHT = 14;
const WIDTH = 1000;
const SLOWEST_MAX = 20;
const namespace = 'http://www.w3.org/2000/svg';

/** Draws the bars and lists the slowest cases. */
export function showTimeline({ verdicts, durationMs }: PageFacts): void {
  const played = verdicts.filter((each) => each.durationMs > 0);
  const lanes = lanesOf(played);
  const total = Math.max(durationMs, 1);
  const height = Math.max(...lanes.values(), 0) * LANE_HEIGHT + LANE_HEIGHT;
  const drawing = graphic('svg', {
    viewBox: `0 0 ${WIDTH} ${height}`,
    role: 'img',
    'aria-label': `${played.length} cases in ${total} ms; see the table below for the slowest`,
  });
  for (const each of played) {
    const bar = graphic('rect', {
      x: String((each.startedMs / total) * WIDTH),
      y: String((lanes.get(each) ?? 0) * LANE_HEIGHT),
      width: String(Math.max((each.durationMs / total) * WIDTH, 1)),
      height: String(BAR_HEIGHT),
      'data-verdict': each.verdict,
    });
    const title = graphic('title', {});
    title.textContent = `${each.id}: ${each.verdict}, ${each.durationMs} ms`;
    bar.append(title);
    drawing.append(bar);
  }
  const slowest = played.toSorted((one, other) => other.durationMs - one.durationMs);
  const rows = slowest
    .slice(0, SLOWEST_MAX)
    .map((each) => [
      element('code', {}, each.id),
      verdictMark(each.verdict),
      `${each.startedMs} ms`,
      `${each.durationMs} ms`,
    ]);
  const columns = ['Case', 'Verdict', 'Began', 'Took'];
  byId('timeline', HTMLElement).replaceChildren(drawing, table('The slowest cases', columns, rows));
}

/** The first lane that is free when a case begins. */
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

function graphic(name: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const made = document.createElementNS(namespace, name);
  if (!(made instanceof SVGElement)) throw new Error(`${name} is nothing to draw`);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
