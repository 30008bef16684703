/** A result as one self-contained page: a chart of the ratios against their goals, then the tables. */
import { selfContainedPage } from '../../../fixtures/markup.ts';
import { element, type Html, mark, section, table } from './html-elements.ts';
import { type BenchResult, changesOf } from './result.ts';
import type { Row } from './row.ts';
import { benchStyle } from './style.ts';
import {
  changeCells,
  changesTitle,
  shownRatio,
  shownSide,
  shownSpread,
  verdictLine,
} from './text.ts';

const tones = { met: 'good', missed: 'bad', 'no goal': 'quiet' } as const;

/** Renders the page. @param before an earlier result, with which the page compares */
export function resultHtml(result: BenchResult, before?: BenchResult): string {
  const rows = result.parts.flatMap((part) => part.rows);
  const title = 'Fleetbed benchmark';
  const body = element(
    'main',
    {},
    element('h1', {}, title),
    element('p', {}, `${verdictLine(rows)}.`),
    environmentList(result),
    section('chart', 'Ratios against their goals', ...result.parts.map(chart)),
    section('figures', 'Figures', ...result.parts.map(figures)),
    ...(before ? [changes(before, result)] : []),
  );
  return selfContainedPage({ title, style: benchStyle(), body: body.toString() });
}

function environmentList({ environment }: BenchResult): Html {
  const entries = Object.entries(environment).flatMap(([label, text]) => [
    element('dt', {}, label),
    element('dd', {}, text),
  ]);
  return element('dl', {}, ...entries);
}

const WIDTH = 900;
const STEP = 30;
const NAME_WIDTH = 320;
const RIGHT = 190;
/** A ratio of this many goals fills the chart; one beyond it is cut off there. */
const GOALS_SHOWN = 2;

/** A bar for each row that has a goal: its length is the ratio in goals, a line marks one goal. */
function chart({ name, rows }: BenchResult['parts'][number]): Html {
  const judged = rows.filter(({ goal }) => goal !== null);
  if (judged.length === 0) return element('p', { class: 'hint' }, `${name}: no row has a goal.`);
  const perGoal = (WIDTH - NAME_WIDTH - RIGHT) / GOALS_SHOWN;
  const goalX = NAME_WIDTH + perGoal;
  const height = judged.length * STEP;
  const label = `${name}: ratios against their goals`;
  const svg = element(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${height}`, role: 'img', 'aria-label': label },
    element('title', {}, label),
    ...judged.flatMap((row, at) => bar(row, at * STEP, perGoal)),
    element('line', { class: 'goal', x1: goalX, x2: goalX, y1: 0, y2: height }),
  );
  return element('figure', {}, element('figcaption', {}, `${name}; the line is the goal`), svg);
}

function bar({ what, ratio, goal, verdict }: Row, y: number, perGoal: number): readonly Html[] {
  const goals = ratio.median / (goal ?? 1);
  const width = Math.round(Math.max(0, Math.min(goals, GOALS_SHOWN)) * perGoal);
  const text = `${shownRatio(ratio.median)} of ${shownRatio(goal)}, ${verdict}`;
  const bottom = y + STEP - 10;
  return [
    element('text', { x: NAME_WIDTH - 8, y: bottom, 'text-anchor': 'end' }, what),
    element('rect', {
      class: 'bar',
      'data-tone': tones[verdict],
      x: NAME_WIDTH,
      y: y + 5,
      width,
      height: STEP - 10,
    }),
    element('text', { x: NAME_WIDTH + width + 6, y: bottom }, text),
  ];
}

function figures({ name, rows }: BenchResult['parts'][number]): Html {
  const columns = [
    'measured',
    'ratio',
    'goal',
    'verdict',
    'ours',
    'held against',
    'unit',
    'for comparison',
    'note',
  ];
  const cells = rows.map((row) => [
    row.what,
    shownSpread(row.ratio),
    shownRatio(row.goal),
    mark(row.verdict, tones[row.verdict]),
    shownSide(row.subject),
    shownSide(row.baseline),
    row.unit,
    row.others.map((other) => `${shownSide(other)}, ${shownSpread(other.ratio)}`).join('; '),
    row.note,
  ]);
  return table(name, columns, cells);
}

function changes(before: BenchResult, now: BenchResult): Html {
  const rows = changesOf(before, now).map((change) => [
    `${change.part}: ${change.what}`,
    ...changeCells(change),
  ]);
  return section(
    'changes',
    'Changes',
    table(changesTitle(before), ['measured', 'before', 'now', 'change'], rows),
  );
}
