/** Renders explanations of refusals and of missing updates as text. */
import { mistakeRows, requestLabel } from '../../fixtures/control/refusal-rows.ts';
import type { Explanation } from './explain.ts';
import type { NoUpdateExplanation } from './no-update.ts';

type LabelledLine = readonly [label: string, value: string | undefined];

const LABEL_CHARACTERS = 12;

/**
 * Returns a refusal as text. The command comes last and is not indented, so that it can be copied.
 */
export function explanationText(explanation: Explanation): string {
  const { requestId, at, tenant, asked, status, sentence, rule, wrong } = explanation;
  const { diagnosis, first, command, needs } = explanation;
  const ids = rule.requirements.length === 0 ? '' : ` [${rule.requirements.join(', ')}]`;
  const rows: readonly LabelledLine[] = [
    ['request', `${requestId} at ${at} in ${tenant}`],
    ['asked', `${asked.method} ${asked.path}`],
    ['operation', asked.operation && `${asked.operation} (${asked.heading})`],
    ['answered', `${status}: ${sentence}`],
    ['rule', `${rule.heading}: ${rule.sentence}${ids}`],
    ...mistakeRows(wrong).map(
      ([label, text]): LabelledLine => [label === 'wrong' ? label : `  ${label}`, text],
    ),
    ['mistake', diagnosis && `${diagnosis.mistake}: ${diagnosis.sentence}`],
    ['  detail', diagnosis?.detail],
    ['  remedy', diagnosis?.remedy],
    ['first', first],
    ...requestRows(explanation),
    ...Object.entries(needs).map(
      ([name, meaning], index) => [index === 0 ? 'set' : '', `${name}: ${meaning}`] as const,
    ),
  ];
  return `${labelled(rows)}${command === undefined ? '' : `command\n${command}\n`}`;
}

function requestRows(explanation: Explanation): readonly LabelledLine[] {
  const { correctedRequest: request } = explanation;
  if (!request) return [];
  return [
    [requestLabel(explanation), `${request.method} ${request.path}`],
    ...Object.entries(request.headers).map(([name, value]) => ['', `${name}: ${value}`] as const),
    ['  body', request.body],
  ];
}

/**
 * Returns the explanation of a missing update as text: the reason first, then the passed conditions and
 * the other deployments.
 */
export function noUpdateText(explanation: NoUpdateExplanation): string {
  const { requestId, at, tenant, device, polled, outcome, condition, because } = explanation;
  const { remedy, passed, deployments } = explanation;
  return labelled([
    ['request', `${requestId ?? 'the next one'} at ${at} in ${tenant}`],
    ['device', device.identity === undefined ? device.id : `${device.identity} (${device.id})`],
    ['polled', polled],
    ['outcome', `${outcome}: ${because}`],
    ['remedy', remedy],
    ['condition', condition],
    ...passed.map(
      ({ condition, sentence }): LabelledLine => ['  passed', `${condition}: ${sentence}`],
    ),
    ...deployments.map((sentence): LabelledLine => ['other', sentence]),
  ]);
}

function labelled(rows: readonly LabelledLine[]): string {
  return rows
    .filter(([, value]) => value !== undefined)
    .map(([label, value]) => `${label.padEnd(LABEL_CHARACTERS)}${value}\n`)
    .join('');
}
