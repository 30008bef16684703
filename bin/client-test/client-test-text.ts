/** A client test as text, the verdict first, and as JUnit. */
import { isListed } from '../../conformance/client-judge/duty-state.ts';
import type {
  ClientTestResult,
  TestedDuty,
} from '../../conformance/client-judge/report/client-test-result.ts';
import type { JunitOutcome } from '../../conformance/report/outcomes-junit.ts';
import { countText } from '../../fixtures/base/count-text.ts';
import type { CiSummary } from '../output/ci-summary.ts';
import { NOT_SELECTED, type PlannedScene } from './schedule.ts';

const VIOLATIONS_SHOWN_MAX = 3;

/** Returns the report as lines. */
export function clientTestLines(testResult: ClientTestResult): readonly string[] {
  const { headline, scenes, duties, intervalMs, problems } = testResult;
  const stoppedScenes = scenes.filter(
    ({ outcome: each }) => each === 'stopped' || each === 'no-request',
  );
  const interval = intervalMs === undefined ? [] : [`It polls every ${seconds(intervalMs)}.`];
  const runScenes = scenes.filter(({ outcome: each }) => each !== 'skipped').length;
  const brokenDuties = duties.filter(({ state }) => state === 'broken');
  return [
    [headline, ...interval, `${countText(runScenes, 'scene')} run.`].join(' '),
    `Duties: ${countsOf(duties)}.`,
    ...sectionLines(
      'Problems',
      problems.map((problem) => `  ${problem}`),
    ),
    ...section(
      'Broken',
      brokenDuties.filter(({ waiver }) => !waiver),
      'broken',
      brokenLines,
    ),
    ...section(
      'Broken, and waived',
      brokenDuties.filter(({ waiver }) => waiver),
      'broken',
      waivedLines,
    ),
    ...section('Open at the end', duties, 'open', undecidedLines),
    ...sectionLines(
      'Scenes that stopped',
      stoppedScenes.map(({ scene, reason = '' }) => `  ${scene}: ${reason}`),
    ),
    ...cutLines(testResult),
    ...unmetSection(duties),
    ...section('Not judged', duties, 'not-judged', undecidedLines),
    ...sectionLines('Scenes that were not run', skippedLines(testResult)),
  ];
}

/** Returns the scenes of a client test as lines, with the sum of their least real time. */
export function scheduleLines(
  schedule: readonly PlannedScene[],
  { parallel, intervalMs }: { readonly parallel: number; readonly intervalMs: number },
): readonly string[] {
  const lines = schedule.map(({ scene, minMs, reason }) => {
    const time = reason === undefined ? seconds(minMs) : '-';
    return `${scene.name.padEnd(24)} ${time.padStart(6)}${reason === undefined ? '' : `  ${reason}`}`;
  });
  const playable = schedule.filter(({ reason }) => reason === undefined);
  const sumMs = playable.reduce((sum, { minMs }) => sum + minMs, 0);
  const at = `at an interval of ${seconds(intervalMs)}`;
  const sum = `${countText(playable.length, 'scene')}, at least ${seconds(sumMs)} ${at}, ${seconds(sumMs / parallel)} with --parallel ${parallel}.`;
  return [...lines, sum];
}

/** Returns the outcomes of the duties for JUnit. */
export function clientTestOutcomes({ duties, failOn }: ClientTestResult): readonly JunitOutcome[] {
  return duties.map(({ duty, level, sentence, state, violations, reason, remedy, waiver }) => ({
    id: duty,
    title: sentence,
    level,
    ...(state === 'broken'
      ? {
          outcome: !waiver && (level === 'must' || level === failOn) ? 'failure' : 'skipped',
          text: violations
            .map(({ scene, message }) => `${scene}: ${message}`)
            .concat(remedy)
            .join('\n'),
        }
      : state === 'met' || state === 'observed'
        ? { outcome: 'passed', text: '' }
        : { outcome: 'skipped', text: reason ?? state }),
  }));
}

/** Returns the duties whose state differs from that in an earlier client test, as lines. */
export function changeLines(
  earlierResult: ClientTestResult,
  { duties }: ClientTestResult,
): readonly string[] {
  const earlierStates = new Map(earlierResult.duties.map(({ duty, state }) => [duty, state]));
  const changedDuties = duties.filter(({ duty, state }) => earlierStates.get(duty) !== state);
  const lines = changedDuties.map(
    ({ duty, level, state }) =>
      `  ${duty} (${level}): ${earlierStates.get(duty) ?? 'unknown'} -> ${state}`,
  );
  return lines.length === 0
    ? ['', 'No duty has changed its state since the earlier client test.']
    : sectionLines('Changed since the earlier client test', lines);
}

/** The duties of scenes that nobody wanted are only counted. */
function unmetSection(duties: readonly TestedDuty[]): readonly string[] {
  const unmet = duties.filter((duty) => duty.state === 'not-tested' && isListed(duty));
  const selectedDuties = unmet.filter(({ reason }) => reason !== NOT_SELECTED);
  const otherCount = unmet.length - selectedDuties.length;
  const otherLines =
    otherCount === 0 ? [] : [`  ${otherCount} of scenes that --scene did not select`];
  return sectionLines('Not tested', [...undecidedLines(selectedDuties), ...otherLines]);
}

/** Returns the client test in the format that CI servers show. */
export function clientTestSummary(testResult: ClientTestResult): CiSummary {
  const { command = 'a client that was started by hand', duties } = testResult;
  const states = [...new Set(duties.map(({ state }) => state))];
  const counts = states.map((state) => [
    state,
    duties.filter((duty) => duty.state === state).length,
  ]);
  return {
    title: `Duties of ${command}`,
    headline: clientTestLines(testResult)[0] ?? '',
    counts: Object.fromEntries(counts),
    findings: duties
      .filter(({ state }) => state === 'broken')
      .map(({ duty, level, sentence, violations, remedy }) => ({
        level: level === 'must' ? 'error' : 'warning',
        subject: duty,
        sentence: [sentence, ...violations.map(({ message }) => message), remedy].join('\n'),
      })),
  };
}

function section(
  title: string,
  duties: readonly TestedDuty[],
  state: TestedDuty['state'],
  lines: (duties: readonly TestedDuty[]) => readonly string[],
): readonly string[] {
  return sectionLines(
    title,
    lines(duties.filter((duty) => duty.state === state && isListed(duty))),
  );
}

function sectionLines(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines];
}

function brokenLines(duties: readonly TestedDuty[]): readonly string[] {
  return duties.flatMap(brokenDuty);
}

function brokenDuty(duty: TestedDuty): readonly string[] {
  const { level, sentence, source, violations, violationCount, remedy } = duty;
  const listedViolations = violations.slice(0, VIOLATIONS_SHOWN_MAX);
  const more = violationCount - listedViolations.length;
  return [
    `  ${duty.duty} (${level}): ${sentence}`,
    ...listedViolations.flatMap(({ scene, journalEntry, message, request }) => [
      `      scene ${scene}${journalEntry === 0 ? '' : `, exchange ${journalEntry}`}: ${message}`,
      ...(request === undefined ? [] : [`        ${request}`]),
    ]),
    ...(more > 0 ? [`      and ${more} more`] : []),
    `      remedy: ${remedy} (${source})`,
  ];
}

function waivedLines(duties: readonly TestedDuty[]): readonly string[] {
  return duties.map(({ duty, level, waiver }) => {
    const { owner = '', expires = '', reason = '' } = waiver ?? {};
    return `  ${duty} (${level}): ${reason} (${owner}, until ${expires})`;
  });
}

/** Duties that lack a verdict for the same reason are in one row. */
function undecidedLines(duties: readonly TestedDuty[]): readonly string[] {
  const byReason = new Map<string, TestedDuty[]>();
  for (const each of duties) {
    const { reason: cause = 'nothing tested it', next } = each;
    const scene = next?.scene === undefined ? '' : `scene ${next.scene}: `;
    const reason = `${scene}${cause}`;
    byReason.set(reason, [...(byReason.get(reason) ?? []), each]);
  }
  return [...byReason].flatMap(([reason, duties]) => {
    const names = duties.map(({ duty, level }) => `${duty} (${level})`);
    return [`  ${reason}`, `      ${names.join(', ')}`];
  });
}

/** A row for each point: what the client did after the cut. */
function cutLines({ cuts, cutBy }: ClientTestResult): readonly string[] {
  const rows = cuts.map(
    ({ point, sentRequestAgain, finalStatuses, polledAgain, reportedFalseSuccess }) => {
      const final = finalStatuses.length === 0 ? 'NONE' : finalStatuses.join(' and ');
      return [
        point,
        sentRequestAgain ? 'yes' : 'NO',
        reportedFalseSuccess ? `${final} (FALSE)` : final,
        polledAgain ? 'yes' : 'NO',
      ];
    },
  );
  const all = [['cut at', 'sent a request', 'final status', 'polled again'], ...rows];
  const widths = all[0]?.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0))) ?? [];
  const lines = all.map((row) => row.map((text, at) => text.padEnd(widths[at] ?? 0)).join('  '));
  return rows.length === 0
    ? []
    : sectionLines(
        `After each cut (${cutBy})`,
        lines.map((line) => `  ${line.trimEnd()}`),
      );
}

function skippedLines({ scenes }: ClientTestResult): readonly string[] {
  return scenes
    .filter(({ outcome, reason }) => outcome === 'skipped' && reason !== NOT_SELECTED)
    .map(({ scene, reason = '' }) => `  ${scene}: ${reason}`);
}

function countsOf(duties: readonly TestedDuty[]): string {
  const counts = new Map<string, number>();
  for (const { state } of duties.filter(isListed)) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
}

function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}
