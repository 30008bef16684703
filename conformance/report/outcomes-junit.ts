/** Formats the outcomes of duties as JUnit XML for CI servers: a test suite for each area. */
import { printableText } from '../../fixtures/base/printable.ts';
import { builder, within } from './junit.ts';

const TEXT_MAX_BYTES = 4096;

/** The outcome of one case or duty, as a test case of JUnit. */
export interface JunitOutcome {
  /** Area and name, such as `get.checksum`. */
  readonly id: string;
  readonly title: string;
  readonly level: string;
  readonly outcome: 'passed' | 'failure' | 'skipped';
  /** The observation as a sentence, or the reason for its absence. */
  readonly text: string;
}

/** Returns the document. @param name what was judged, with the verdict */
export function outcomesJunit(name: string, outcomes: readonly JunitOutcome[]): string {
  const areas = [...new Set(outcomes.map(areaOf))];
  return builder.build({
    '?xml': { '@version': '1.0', '@encoding': 'UTF-8' },
    testsuites: {
      ...counts(outcomes),
      '@name': printableText(name),
      testsuite: areas.map((area) => {
        const those = outcomes.filter((each) => areaOf(each) === area);
        return { '@name': area, ...counts(those), testcase: those.map(testCase) };
      }),
    },
  });
}

function areaOf({ id }: JunitOutcome): string {
  return id.split('.')[0] ?? '';
}

function counts(outcomes: readonly JunitOutcome[]) {
  const count = (wanted: JunitOutcome['outcome']): number =>
    outcomes.filter(({ outcome }) => outcome === wanted).length;
  return {
    '@tests': outcomes.length,
    '@failures': count('failure'),
    '@skipped': count('skipped'),
  };
}

function testCase(each: JunitOutcome) {
  const { id, title, level, outcome, text } = each;
  const message = within(TEXT_MAX_BYTES, text);
  return {
    '@name': printableText(`${id}: ${title}`),
    '@classname': areaOf(each),
    ...(outcome !== 'passed' && { [outcome]: { '@message': message, '@type': level } }),
  };
}
