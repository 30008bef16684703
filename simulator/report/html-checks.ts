/** The checks of a sample on the page: each requirement by phase and rate, and its first breach. */

import type { FleetResult } from '../result/result.ts';
import type { Breach, RequirementChecks } from '../result/result-checks.ts';
import { element, type Html, mark, section, table } from './html-elements.ts';
import { brokenRates, brokenRequirements, phaseTable, rate } from './text-checks.ts';

/** Renders which requirements the server met under load; empty where nothing was checked. */
export function checkSection({ checks }: FleetResult): readonly Html[] {
  if (checks === undefined) return [];
  const judged = checks.requirements.filter((row) => row.judged > 0);
  const broken = brokenRequirements(checks);
  const said =
    `${checks.devices} devices were watched over ${checks.exchanges} requests. ` +
    `${judged.length} of ${checks.requirements.length} requirements were tested.`;
  const inOrder = [...broken, ...judged.filter((row) => row.broken === 0)];
  const [[, ...phases] = [], ...rows] = phaseTable(inOrder);
  return [
    section(
      'checks',
      'Checks under load',
      element('p', {}, said),
      ...broken.map(breachCard),
      table(
        'Requirements by phase: broken of tested',
        ['Requirement', 'Verdict', ...phases],
        inOrder.map((row, index) => [
          row.requirement,
          mark(row.broken > 0 ? 'broken' : 'held', row.broken > 0 ? 'bad' : 'good'),
          ...(rows[index]?.slice(1) ?? []),
        ]),
      ),
    ),
  ];
}

function breachCard(row: RequirementChecks): Html {
  const { requirement, sentence, firstBreach } = row;
  const lines = firstBreach === undefined ? '' : breachText(firstBreach);
  return element(
    'details',
    {},
    element('summary', {}, mark('broken', 'bad'), ` ${requirement}: ${sentence}`),
    element('p', {}, `By request rate of the whole fleet: ${brokenRates(row)}.`),
    element('pre', {}, lines),
  );
}

function breachText(breach: Breach): string {
  const { device, atMs, operation, phase, requestsPerSecond, request, answer } = breach;
  return [
    `device ${device}, ${operation}, ${new Date(atMs).toISOString()}`,
    `phase ${phase}, at ${rate(requestsPerSecond)}`,
    `expected ${breach.expected}`,
    `received ${breach.seen}`,
    '',
    request.line,
    ...messageLines(request),
    '',
    ...(answer === undefined ? ['no response'] : [String(answer.status), ...messageLines(answer)]),
  ].join('\n');
}

function messageLines({ headers, body }: Breach['request'] | NonNullable<Breach['answer']>) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return body === undefined ? lines : [...lines, '', body];
}
