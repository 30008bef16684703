/**
 * The section of the page about conformance checks: each requirement by stage and request rate, and
 * its first violation.
 */
import { countText } from '../../fixtures/base/count-text.ts';
import type { FleetResult } from '../result/result.ts';
import type { FirstViolation } from '../result/result-checks.ts';
import type { ShownSection } from './page-facts.ts';
import { rate, stageTable, violatedRequirements, violationRates } from './text-checks.ts';

/**
 * Returns the section about requirements that the server met or violated; an empty list when no
 * device was watched.
 */
export function checkSections({ checks }: FleetResult): readonly ShownSection[] {
  if (checks === undefined) return [];
  const judgedRows = checks.requirements.filter((row) => row.judged > 0);
  const violatedRows = violatedRequirements(checks);
  const inOrder = [...violatedRows, ...judgedRows.filter((row) => row.violated === 0)];
  const [[, ...stages] = [], ...rows] = stageTable(inOrder);
  return [
    {
      id: 'checks',
      title: 'Checks under load',
      isDetail: violatedRows.length === 0,
      lines: [
        `${countText(checks.exchanges, 'request')} of ${countText(checks.devices, 'device')} were checked. ` +
          `${judgedRows.length} of ${checks.requirements.length} requirements were tested.`,
      ],
      evidence: violatedRows.map((row) => ({
        line: `${row.requirement}: ${row.sentence}`,
        text: [
          `Request rates of the whole fleet: ${violationRates(row)}.`,
          ...(row.firstViolation === undefined ? [] : [violationText(row.firstViolation)]),
        ].join('\n'),
      })),
      tables: [
        {
          caption: 'Requirements by stage: violated of tested',
          columns: ['Requirement', 'Verdict', ...stages],
          rows: inOrder.map((row, index) => [
            row.requirement,
            row.violated > 0
              ? { word: 'violated', tone: 'negative' }
              : { word: 'met', tone: 'positive' },
            ...(rows[index]?.slice(1) ?? []),
          ]),
        },
      ],
    },
  ];
}

function violationText(violation: FirstViolation): string {
  const { device, atMs, operation, stage, requestsPerSecond, request, response } = violation;
  return [
    `device ${device}, ${operation}, ${new Date(atMs).toISOString()}`,
    `stage ${stage}, at ${rate(requestsPerSecond)}`,
    `expected ${violation.expected}`,
    `received ${violation.actual}`,
    '',
    request.line,
    ...messageLines(request),
    '',
    ...(response === undefined
      ? ['no response']
      : [String(response.status), ...messageLines(response)]),
  ].join('\n');
}

function messageLines({
  headers,
  body,
}: FirstViolation['request'] | NonNullable<FirstViolation['response']>) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return body === undefined ? lines : [...lines, '', body];
}
