/** Renders explanations of refusals and of missing updates as text. */
import { problemRows, requestLabel } from '../../fixtures/control/refusal-rows.ts';
import type { Explanation } from './explain.ts';
import type { NoUpdateExplanation } from './no-update.ts';

type LabelledLine = readonly [label: string, value: string | undefined];

const LABEL_CHARACTERS = 12;

/**
 * Returns a refusal as text. The command comes last and is not indented, so that it can be copied.
 */
export function explanationText(explanation: Explanation): string {
  const { requestId, at, tenant, request, status, sentence, rule, problem } = explanation;
  const { diagnosis, before, command, variables } = explanation;
  const ids = rule.requirements.length === 0 ? '' : ` [${rule.requirements.join(', ')}]`;
  const rows: readonly LabelledLine[] = [
    ['request ID', `${requestId} at ${at} in ${tenant}`],
    ['request', `${request.method} ${request.path}`],
    ['operation', request.operation && `${request.operation} (${request.heading})`],
    ['response', `${status}: ${sentence}`],
    ['rule', `${rule.heading}: ${rule.sentence}${ids}`],
    ...problemRows(problem).map(
      ([label, text]): LabelledLine => [label === 'problem' ? label : `  ${label}`, text],
    ),
    ['cause', diagnosis && `${diagnosis.cause}: ${diagnosis.sentence}`],
    ['  detail', diagnosis?.detail],
    ['  remedy', diagnosis?.remedy],
    ['before', before],
    ...requestRows(explanation),
    ...Object.entries(variables).map(
      ([name, meaning], index) => [index === 0 ? 'variables' : '', `${name}: ${meaning}`] as const,
    ),
  ];
  return `${labelLines(rows)}${command === undefined ? '' : `command\n${command}\n`}`;
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
  const { requestId, at, tenant, device, polled, outcome, condition, reason } = explanation;
  const { remedy, passed, deployments } = explanation;
  return labelLines([
    [
      requestId === undefined ? 'request' : 'request ID',
      `${requestId ?? 'the next one'} at ${at} in ${tenant}`,
    ],
    ['device', device.identity === undefined ? device.id : `${device.identity} (${device.id})`],
    ['polled', polled],
    ['outcome', `${outcome}: ${reason}`],
    ['remedy', remedy],
    ['condition', condition],
    ...passed.map(
      ({ condition, sentence }): LabelledLine => ['  passed', `${condition}: ${sentence}`],
    ),
    ...deployments.map((sentence): LabelledLine => ['other', sentence]),
  ]);
}

function labelLines(rows: readonly LabelledLine[]): string {
  return rows
    .filter(([, value]) => value !== undefined)
    .map(([label, value]) => `${label.padEnd(LABEL_CHARACTERS)}${value}\n`)
    .join('');
}
