/** Formats the judgement of a recording as text for a terminal. */
import { countText } from '../../fixtures/base/count-text.ts';
import { type RecordingJudgement, reasons } from './recording.ts';

/** Maximum number of violated requirements in the text; the JSON output has all of them. */
const SHOWN_MAX = 10;

/** Returns a headline, the violated requirements, and the number of unjudged entries by reason. */
export function recordingText(judgement: RecordingJudgement): string {
  return [
    headline(judgement),
    `  ${countsLine(judgement)}`,
    ...violatedLines(judgement),
    ...leftOutLines(judgement),
  ].join('\n');
}

function headline({ outcome, requirements, file, server }: RecordingJudgement): string {
  const judgedRows = requirements.filter((row) => row.judged > 0);
  const violatedRows = requirements.filter((row) => row.violated > 0);
  const untested = `${requirements.length - judgedRows.length} not tested`;
  const reason = {
    fail: `${violatedRows.length} of ${countText(judgedRows.length, 'requirement')} violated, ${untested}`,
    pass: `${countText(judgedRows.length, 'requirement')}, ${untested}`,
    inconclusive: 'nothing was tested: no entry can be judged by a requirement',
  }[outcome];
  return `${outcome}: ${reason} (${server === undefined ? file : `${file}, ${server}`})`;
}

function countsLine({ entries, judged, devices, alone }: RecordingJudgement): string {
  const all = `${countText(entries, 'entry')}, ${judged} judged`;
  const identified = `${countText(devices, 'device')} identified`;
  if (alone === 0) return `${all}; ${identified}`;
  return `${all}; ${identified}, ${alone} judged alone, without a known device`;
}

function violatedLines({ requirements }: RecordingJudgement): string[] {
  const violatedRows = requirements.filter((row) => row.violated > 0);
  const more = violatedRows.length - SHOWN_MAX;
  const rows = violatedRows.slice(0, SHOWN_MAX).flatMap((row) => {
    const { requirement, sentence, judged, firstViolation } = row;
    return [
      '',
      `  ${requirement}: ${sentence}`,
      `    violated by ${row.violated} of ${judged}`,
      ...(firstViolation
        ? [
            `    first: ${firstViolation.entry}, ${firstViolation.at}, ${firstViolation.operation}`,
            `    expected ${firstViolation.expected}`,
            `    received ${firstViolation.actual}`,
          ]
        : []),
    ];
  });
  return more > 0 ? [...rows, '', `  and ${more} more`] : rows;
}

function leftOutLines({ leftOut, entries, judged }: RecordingJudgement): string[] {
  if (leftOut.length === 0) return [];
  const rows = leftOut.map(({ reason, entries: count, first }) => {
    const more = count - first.length;
    const listText = `${first.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    return `  ${count} ${reasons[reason]}: ${listText}`;
  });
  return ['', `Not judged: ${countText(entries - judged, 'entry')}`, ...rows];
}
