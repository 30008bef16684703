/** A client's duties as text: what is broken, open and not tested, each with what to do. */
import { countText } from '../../fixtures/base/count-text.ts';
import { printable } from '../../fixtures/base/printable.ts';
import { byLevel } from '../../fixtures/control/clients.ts';
import type { ResponseOf } from '../../fixtures/control/operations.ts';

/** A client with its duties, from a server or from a recording. */
export type ClientDuties = Pick<
  ResponseOf<'GET /clients/{device}'>,
  'client' | 'exchanges' | 'dropped' | 'duties'
> & { readonly identity?: string };

type ListedDuty = ClientDuties['duties'][number];

const VIOLATIONS_SHOWN_MAX = 3;
const STEPS_SHOWN_MAX = 8;
const LINE_MAX_CHARACTERS = 1000;

/** The states in the order of the counts. */
const states = ['met', 'broken', 'open', 'not-tested', 'not-judged'] as const;

/** Returns true if the client broke a MUST. */
export function hasBrokenMust({ duties }: ClientDuties): boolean {
  return duties.some(({ level, state }) => level === 'must' && state === 'broken');
}

/** Returns the duties of a client as lines, the verdict first. */
export function clientLines(client: ClientDuties): readonly string[] {
  const { exchanges, dropped, identity, client: name } = client;
  const duties = client.duties.toSorted(byLevel);
  const lossText = dropped === 0 ? '' : `, ${countText(dropped, 'event')} lost`;
  return [
    `${identity === undefined ? name : `${identity} (${name})`}: ${countText(exchanges, 'request')}${lossText}`,
    hasBrokenMust(client) ? 'The client breaks a MUST.' : 'No MUST is broken.',
    countsLine(duties),
    ...section('Broken', duties, 'broken', brokenLines),
    ...section('Open', duties, 'open', ({ duty, openSeconds = 0, sentence }) => [
      `  ${duty} since ${openSeconds} s: ${sentence}`,
    ]),
    ...nextLines(duties),
  ].map((line) => printable(line, LINE_MAX_CHARACTERS));
}

function countsLine(duties: readonly ListedDuty[]): string {
  const meant = duties.filter(({ level }) => level !== 'observed');
  const counts = states.map(
    (state) => `${meant.filter((duty) => duty.state === state).length} ${state}`,
  );
  return `Of ${countText(meant.length, 'duty')}: ${counts.join(', ')}.`;
}

function section(
  title: string,
  duties: readonly ListedDuty[],
  state: ListedDuty['state'],
  lines: (duty: ListedDuty) => readonly string[],
): readonly string[] {
  const dutiesInState = duties.filter((duty) => duty.state === state);
  return dutiesInState.length === 0 ? [] : ['', `${title}:`, ...dutiesInState.flatMap(lines)];
}

function brokenLines({ duty, level, violations, violationCount, remedy, source }: ListedDuty) {
  const firstViolations = violations.slice(0, VIOLATIONS_SHOWN_MAX);
  const more = violationCount - firstViolations.length;
  return [
    `  ${duty} (${level})`,
    ...firstViolations.flatMap(({ journalEntry, message, request }) => [
      `      ${message}`,
      ...(request === undefined ? [] : [`      entry ${journalEntry}: ${request}`]),
    ]),
    ...(more > 0 ? [`      and ${more} more`] : []),
    `      remedy: ${remedy} (${source})`,
  ];
}

/** Returns what tests the duties that are not tested, each step with its duties. */
function nextLines(duties: readonly ListedDuty[]): readonly string[] {
  const bySteps = new Map<string, { command: string | undefined; duties: string[] }>();
  for (const { duty, state, level, next } of duties) {
    if (state !== 'not-tested' || level === 'observed' || next === undefined) continue;
    const step = bySteps.get(next.text) ?? { command: next.command, duties: [] };
    bySteps.set(next.text, step);
    step.duties.push(duty);
  }
  if (bySteps.size === 0) return [];
  const first = [...bySteps].slice(0, STEPS_SHOWN_MAX);
  const more = bySteps.size - first.length;
  const lines = first.flatMap(([text, { command, duties: names }]) => [
    `  ${text}`,
    ...(command === undefined ? [] : [`      ${command}`]),
    `      shows ${names.join(', ')}`,
  ]);
  const moreLines =
    more === 0 ? [] : [`  and ${countText(more, 'further step')}; --json has them all`];
  return ['', 'Not tested yet; steps that would test it:', ...lines, ...moreLines];
}
