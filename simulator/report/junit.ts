/**
 * Renders a result as JUnit XML for CI servers, with one test case for each condition of its
 * outcome.
 */
import { XMLBuilder } from 'fast-xml-parser';
import { countText } from '../../fixtures/base/count-text.ts';
import { printable } from '../../fixtures/base/printable.ts';
import type { RunFinding } from '../result/finding.ts';
import { outcomeOf } from '../result/outcome.ts';
import type { FleetResult } from '../result/result.ts';

/** A test case; it passes when it has neither `failure` nor `skipped`. */
interface JunitCase {
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

/** Renders a result as JUnit XML, with a test case for each finding. */
export function fleetJunit(result: FleetResult): string {
  const checks = outcomeOf(result).findings.map(checkOf);
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
        '@name': `${countText(funnel.devices, 'device')} against ${plan.baseUrl}`,
        ...counts,
        '@timestamp': startedAt,
        testcase: checks.map(testCase),
      },
    },
  });
}

/**
 * Converts a finding to a test case. A passed finding passes, a finding that was not judged is
 * skipped, and any other fails.
 */
function checkOf({ state, condition, sentence }: RunFinding): JunitCase {
  const name = printable(condition);
  if (state === 'passed') return { name };
  return state === 'not judged' ? { name, skipped: sentence } : { name, failure: sentence };
}

function testCase({ name, failure, skipped }: JunitCase): object {
  return {
    '@classname': 'fleet',
    '@name': name,
    ...(failure !== undefined && { failure: { '@message': printable(failure) } }),
    ...(skipped !== undefined && { skipped: { '@message': printable(skipped) } }),
  };
}
