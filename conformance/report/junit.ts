/** Formats the result of a run as JUnit XML for CI servers: a test suite for each area. */
import { XMLBuilder } from 'fast-xml-parser';
import { printableText } from '../../fixtures/printable.ts';
import {
  breachText,
  type CaseVerdict,
  type ConformanceResult,
  isExcused,
  type RunProblem,
  waiverText,
} from '../result/result.ts';

type Element = Record<string, unknown>;

const SCRIPT_MAX_CHARACTERS = 50_000;

const builder = new XMLBuilder({
  format: true,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  suppressEmptyNode: true,
});

/**
 * Returns the document. A failed case is a failure. An error of the suite and an inconclusive case
 * are errors, so that CI servers do not count them as passed. An observed case counts as passed,
 * with the observation in its output.
 */
export function conformanceJunit(result: ConformanceResult): string {
  const { suite, verdicts, problems, durationMs, startedAt, target, headline } = result;
  const areas = new Set(verdicts.map(areaOf));
  const ofRun = [
    ...properties('schema', [result.schema]),
    ...properties('target', [target.baseUrl]),
    ...properties('run', [result.runId]),
    ...properties('seed', [result.seed]),
    ...properties('waived', [String(result.waived)]),
  ];
  const document = {
    '?xml': { '@version': '1.0', '@encoding': 'UTF-8' },
    testsuites: {
      ...counts(verdicts, problems.length),
      '@name': printableText(`${suite.name} ${suite.version}: ${target.baseUrl}: ${headline}`),
      '@time': seconds(durationMs),
      '@timestamp': startedAt,
      testsuite: [
        ...problemSuite(problems),
        ...[...areas].map((area) => {
          const those = verdicts.filter((verdict) => areaOf(verdict) === area);
          const time = those.reduce((sum, verdict) => sum + verdict.durationMs, 0);
          return {
            '@name': area,
            ...counts(those),
            '@time': seconds(time),
            properties: { property: ofRun },
            testcase: those.map(testCase),
          };
        }),
      ],
    },
  };
  return builder.build(document);
}

function areaOf({ id }: CaseVerdict): string {
  return id.split('/')[0] ?? '';
}

function seconds(durationMs: number): string {
  return (durationMs / 1000).toFixed(3);
}

/** @param problems number of problems of the run, each of which is a test of its own */
function counts(verdicts: readonly CaseVerdict[], problems = 0): Element {
  const count = (...names: readonly string[]): number =>
    verdicts.filter((each) => !isExcused(each) && names.includes(each.verdict)).length;
  const excused = verdicts.filter(isExcused).length;
  return {
    '@tests': verdicts.length + problems,
    '@failures': count('fail') + problems,
    '@errors': count('error', 'inconclusive'),
    '@skipped': count('skip') + excused,
  };
}

function problemSuite(problems: readonly RunProblem[]): readonly Element[] {
  if (problems.length === 0) return [];
  const testcase = problems.map(({ code, text }) => ({
    '@name': printableText(text),
    '@classname': 'run',
    '@time': seconds(0),
    failure: { '@message': printableText(text), '@type': code },
  }));
  return [{ '@name': 'run', ...counts([], problems.length), '@time': seconds(0), testcase }];
}

function testCase(each: CaseVerdict): Element {
  const property = [
    ...properties('level', [each.level]),
    ...properties('risk', [each.risk]),
    ...properties('requirement', each.requirements),
    ...properties('missed', each.missed ?? []),
    ...properties('needs', each.needs),
    ...properties('waived', each.waiver ? [waiverText(each.waiver)] : []),
  ];
  return {
    '@name': `${each.id}: ${each.title}`,
    '@classname': areaOf(each),
    '@time': seconds(each.durationMs),
    properties: { property },
    ...outcome(each),
  };
}

function properties(name: string, values: readonly string[]): readonly Element[] {
  return values.map((value) => ({ '@name': name, '@value': printableText(value) }));
}

/** Replaces a long script by a note, since CI servers keep every failure in memory. */
function boundedScript(script: string): string {
  const isShort = script.length <= SCRIPT_MAX_CHARACTERS;
  return isShort ? script : '# The script is in the JSON and HTML reports.';
}

function outcome(each: CaseVerdict): Element {
  const {
    verdict,
    expected = '',
    actual = '',
    reason,
    observation = '',
    sentences,
    breaches = [],
  } = each;
  const evidence = printableText(
    [
      ...sentences,
      ...breaches.map(breachText),
      ...(each.reproScript === undefined ? [] : ['', boundedScript(each.reproScript), '']),
      JSON.stringify(each.exchanges ?? [], null, 1),
    ].join('\n'),
  );
  const because = printableText(reason?.text ?? '');
  if (each.waiver) {
    const message = `${waiverText(each.waiver)}; actual ${each.actual ?? because}`;
    return { skipped: { '@message': printableText(message) } };
  }
  switch (verdict) {
    case 'fail':
      if (each.tolerated) {
        const message = `a SHOULD, which does not fail this run: expected ${expected}, actual ${actual}`;
        return { skipped: { '@message': printableText(message) } };
      }
      return {
        failure: {
          '@message': printableText(`expected ${expected}, actual ${actual}`),
          '@type': each.level,
          '#text': evidence,
        },
      };
    case 'error':
    case 'inconclusive':
      return {
        error: { '@message': because, '@type': reason?.code ?? verdict, '#text': evidence },
      };
    case 'skip':
      return { skipped: { '@message': because } };
    case 'observed':
      return { 'system-out': printableText(observation) };
    case 'pass':
      return {};
  }
}
