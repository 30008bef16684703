/**
 * The section of the page about conformance checks: each requirement by phase and request rate, and
 * its first breach.
 */

import { counted } from '../../fixtures/base/counted.ts';
import type { FleetResult } from '../result/result.ts';
import type { FirstBreach } from '../result/result-checks.ts';
import type { ShownSection } from './page-facts.ts';
import { brokenRates, brokenRequirements, phaseTable, rate } from './text-checks.ts';

/**
 * Returns the section about requirements that the server met or broke; an empty list when no device
 * was watched.
 */
export function checkSections({ checks }: FleetResult): readonly ShownSection[] {
  if (checks === undefined) return [];
  const judged = checks.requirements.filter((row) => row.judged > 0);
  const broken = brokenRequirements(checks);
  const inOrder = [...broken, ...judged.filter((row) => row.broken === 0)];
  const [[, ...phases] = [], ...rows] = phaseTable(inOrder);
  return [
    {
      id: 'checks',
      title: 'Checks under load',
      isDetail: broken.length === 0,
      lines: [
        `${counted(checks.exchanges, 'request')} of ${counted(checks.devices, 'device')} were checked. ` +
          `${judged.length} of ${checks.requirements.length} requirements were tested.`,
      ],
      evidence: broken.map((row) => ({
        line: `${row.requirement}: ${row.sentence}`,
        text: [
          `Request rates of the whole fleet: ${brokenRates(row)}.`,
          ...(row.firstBreach === undefined ? [] : [breachText(row.firstBreach)]),
        ].join('\n'),
      })),
      tables: [
        {
          caption: 'Requirements by phase: broken of tested',
          columns: ['Requirement', 'Verdict', ...phases],
          rows: inOrder.map((row, index) => [
            row.requirement,
            row.broken > 0 ? { word: 'broken', tone: 'bad' } : { word: 'held', tone: 'good' },
            ...(rows[index]?.slice(1) ?? []),
          ]),
        },
      ],
    },
  ];
}

function breachText(breach: FirstBreach): string {
  const { device, atMs, operation, phase, requestsPerSecond, request, response } = breach;
  return [
    `device ${device}, ${operation}, ${new Date(atMs).toISOString()}`,
    `phase ${phase}, at ${rate(requestsPerSecond)}`,
    `expected ${breach.expected}`,
    `received ${breach.actual}`,
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
}: FirstBreach['request'] | NonNullable<FirstBreach['response']>) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return body === undefined ? lines : [...lines, '', body];
}
