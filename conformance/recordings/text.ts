/** Formats the schedule, and its use by recorded traffic, as tables for a terminal. */
import Table from 'cli-table3';
import { countText } from '../../fixtures/base/count-text.ts';
import { daysBetween } from './day.ts';
import type { DeprecatedTraffic, DeprecationFinding } from './findings.ts';
import { rowName, type Schedule, type ScheduleRow } from './schedule.ts';

const NAME_COLUMNS = 40;
const ADVICE_COLUMNS = 38;
/** Table style without colours, so that files and pipes receive plain text. */
const plain = { style: { head: [], border: [], compact: true } };

/** Formats the whole schedule: a line with the day, a table of calls and a table of fields. */
export function scheduleText({ on, endOfLife, rows }: Schedule): string {
  const head = ['since', 'end of life', 'state', 'days left', 'use instead'];
  const tableOf = (kind: ScheduleRow['kind']): string => {
    const table = new Table({ head: [kind, ...head], ...plain });
    for (const row of rows.filter((each) => each.kind === kind)) {
      const { deprecatedSince, state, daysLeft } = row;
      const label = state.replaceAll('-', ' ').replace('not yet ', 'not yet\n');
      table.push([nameOf(row), deprecatedSince, row.endOfLife, label, daysLeft, adviceOf(row)]);
    }
    return table.toString();
  };
  const heading = `Schedule on ${on}: every row ends on ${endOfLife}, ${distance(on, endOfLife)}`;
  return [heading, tableOf('call'), tableOf('field')].join('\n');
}

/** Formats the use of the schedule by traffic: the outcome in a line, then a table of rows. */
export function trafficText(traffic: DeprecatedTraffic): string {
  const { on, findings } = traffic;
  const head = ['used', 'calls', 'first and last seen', 'stops working', 'use instead'];
  const table = new Table({ head, ...plain });
  for (const finding of findings) {
    const { exchanges, firstSeen, lastSeen } = finding;
    const period = `${secondOf(firstSeen)}\n${secondOf(lastSeen)}`;
    table.push([nameOf(finding), exchanges, period, endOf(finding, on), adviceOf(finding)]);
  }
  return [...(findings.length > 0 ? [table.toString()] : []), trafficSentence(traffic)].join('\n');
}

/** Returns the outcome of the findings in one or two sentences. */
export function trafficSentence(traffic: DeprecatedTraffic): string {
  const { findings, recordings, unseen } = traffic;
  const calls = recordings.reduce((sum, recording) => sum + recording.calls, 0);
  const among = countText(calls, 'call');
  const verdict = {
    nothing: 'nothing was checked: the traffic has no calls of this API.',
    clear: `nothing deprecated is used in ${among}.`,
    reads: `${countText(findings.length, 'row')} of the schedule in ${among}, all in response fields: clients that read them must change.`,
    uses: `${countText(findings.length, 'row')} of the schedule used in ${among}.`,
  }[traffic.outcome];
  const blind = `${countText(unseen, 'call')} may carry a deprecated field in a body that was not recorded.`;
  return unseen > 0 ? `${verdict} ${blind}` : verdict;
}

function distance(from: string, to: string): string {
  const days = daysBetween(from, to);
  if (days === 0) return 'today';
  return days > 0 ? `in ${countText(days, 'day')}` : `${countText(-days, 'day')} ago`;
}

function endOf({ endOfLife, refused, exchanges }: DeprecationFinding, on: string): string {
  const when = `${endOfLife},\n${distance(on, endOfLife)}`;
  return refused > 0 ? `${when};\n410 already:\n${refused} of ${exchanges}` : when;
}

function secondOf(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z');
}

function nameOf(row: ScheduleRow): string {
  return wrapped(rowName(row), NAME_COLUMNS);
}

function adviceOf({ replacement }: ScheduleRow): string {
  return wrapped(replacement, ADVICE_COLUMNS);
}

/** Wraps text at spaces to a number of columns; a longer path is also broken after slashes. */
function wrapped(text: string, columns: number): string {
  const lines: string[] = [];
  let line = '';
  for (const chunk of text.split(' ').flatMap((word) => chunksOf(word, columns))) {
    if (line !== '' && `${line}${chunk}`.trimEnd().length > columns) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += chunk;
  }
  return [...lines, line.trimEnd()].join('\n');
}

/** Returns a word with a trailing space, split after slashes if it is too long for a line. */
function chunksOf(word: string, columns: number): readonly string[] {
  const spaced = `${word} `;
  return word.length > columns ? spaced.split(/(?<=\/)/) : [spaced];
}
