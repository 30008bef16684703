/**
 * Renders a fleet's result as JUnit XML for CI servers: one test per condition of the exit code.
 */

import { XMLBuilder } from 'fast-xml-parser';
import { counted } from '../../fixtures/counted.ts';
import { printable } from '../../fixtures/printable.ts';
import { contactDoubt } from '../result/contact.ts';
import type { FleetResult } from '../result/result.ts';
import type { RequirementChecks } from '../result/result-checks.ts';
import type { ThresholdVerdict } from '../result/result-generator.ts';
import { pendingSentences } from './headline.ts';
import { rate } from './text-checks.ts';

/** One test case; it has passed without a failure and a skip. */
interface Check {
  readonly name: string;
  readonly failure?: string;
  readonly skipped?: string;
}

const builder = new XMLBuilder({
  format: true,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  suppressEmptyNode: true,
});

/**
 * Renders the document: reconciliation, contact, acceptance, generator, each threshold and requirement as a
 * test case.
 */
export function fleetJunit(result: FleetResult): string {
  const checks = [
    reconciliationCheck(result),
    contactCheck(result),
    acceptanceCheck(result),
    generatorCheck(result),
    ...result.thresholds.map(thresholdCheck),
    ...(result.checks?.requirements ?? []).map(requirementCheck),
  ];
  const counts = {
    '@tests': checks.length,
    '@failures': checks.filter(({ failure }) => failure !== undefined).length,
    '@errors': 0,
    '@skipped': checks.filter(({ skipped }) => skipped !== undefined).length,
    '@time': (result.durationMs / 1000).toFixed(3),
  };
  const { funnel, plan, startedAt } = result;
  return builder.build({
    '?xml': { '@version': '1.0', '@encoding': 'UTF-8' },
    testsuites: {
      ...counts,
      testsuite: {
        '@name': `${counted(funnel.devices, 'device')} against ${plan.baseUrl}`,
        ...counts,
        '@timestamp': startedAt,
        testcase: checks.map(testCase),
      },
    },
  });
}

function reconciliationCheck({ reconciliation }: FleetResult): Check {
  const name = 'reconciliation: server and fleet agree on every device';
  if (!reconciliation.checked) return { name, skipped: reconciliation.because ?? 'not checked' };
  if (reconciliation.ok) return { name };
  const rows = reconciliation.differences.map(
    ({ deviceIndex, ours, servers }) =>
      `device ${deviceIndex}: device reports ${ours}, server lists ${servers}`,
  );
  const sums = reconciliation.statistics.map(
    ({ status, listed, stated }) => `${status}: the server lists ${listed} and counts ${stated}`,
  );
  return { name, failure: [...rows, ...sums].join('; ') };
}

function contactCheck(result: FleetResult): Check {
  const name = 'devices reach the server';
  const doubt = contactDoubt(result);
  return doubt === 'no device got an answer' ? { name, failure: doubt } : { name };
}

function acceptanceCheck(result: FleetResult): Check {
  const name = 'the server accepts devices';
  const doubt = contactDoubt(result);
  if (doubt === undefined) return { name };
  if (doubt === 'no device got an answer') return { name, skipped: doubt };
  return { name, failure: pendingSentences(result).join('; ') };
}

function generatorCheck({ validity, generator }: FleetResult): Check {
  const name = 'the load generator is not the limit';
  return validity === 'valid' ? { name } : { name, failure: generator.reasons.join('; ') };
}

/** A threshold without a verdict has not been met either. */
function thresholdCheck({ threshold, verdict, observed }: ThresholdVerdict): Check {
  const name = `threshold: ${printable(threshold)}`;
  if (verdict === 'met') return { name };
  return { name, failure: `${verdict}: ${observed}` };
}

function requirementCheck(row: RequirementChecks): Check {
  const name = `requirement ${row.requirement}: ${row.sentence}`;
  if (row.judged === 0) return { name, skipped: 'no checked request tested it' };
  if (row.firstBreach === undefined) return { name };
  const { expected, seen, requestsPerSecond } = row.firstBreach;
  const first = `first at ${rate(requestsPerSecond)}: expected ${expected}, received ${seen}`;
  return { name, failure: `broken ${row.broken} of ${row.judged} times, ${first}` };
}

function testCase({ name, failure, skipped }: Check): object {
  return {
    '@classname': 'fleet',
    '@name': name,
    ...(failure !== undefined && { failure: { '@message': printable(failure) } }),
    ...(skipped !== undefined && { skipped: { '@message': printable(skipped) } }),
  };
}
