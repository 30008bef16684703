/** Formats the result of a run as JUnit XML for CI servers: a test suite for each area. */
import { XMLBuilder } from 'fast-xml-parser';
import { printableText } from '../../fixtures/base/printable.ts';
import {
  type CaseVerdict,
  type ConformanceResult,
  isWaived,
  type RunProblem,
  violationText,
  waiverText,
} from '../result/result.ts';
import { type ScriptFiles, scriptCommand, withoutBase64 } from './repro-scripts.ts';

type Element = Record<string, unknown>;

/**
 * Limit on an outcome in the document, after escaping, since CI servers keep every failure in
 * memory and show it in a page.
 */
const OUTCOME_MAX_BYTES = 4096;
/** Part of the limit that the message may use. */
const MESSAGE_MAX_BYTES = 1200;
/** Room for the tags, the type and the indentation of an outcome. */
const TAGS_MAX_BYTES = 150;

export const builder = new XMLBuilder({
  format: true,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  suppressEmptyNode: true,
});

/** The characters of a text that the document writes as entities, each with its length there. */
const entityBytes: Readonly<Record<string, number>> = { '&': 5, '<': 4, '>': 4, '"': 6, "'": 6 };

/**
 * Returns the document. A failed case is a failure. An error of the suite and an inconclusive case
 * are errors, so that CI servers do not count them as passed. An observed case counts as passed,
 * with the observation in its output.
 * @param scripts files of the repro scripts by case ID; a failure without one names no script
 */
export function conformanceJunit(
  result: ConformanceResult,
  scripts: ScriptFiles = new Map(),
): string {
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
            testcase: those.map((each) => testCase(each, scripts)),
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
    verdicts.filter((each) => !isWaived(each) && names.includes(each.verdict)).length;
  const waivedCount = verdicts.filter(isWaived).length;
  return {
    '@tests': verdicts.length + problems,
    '@failures': count('fail') + problems,
    '@errors': count('error', 'inconclusive'),
    '@skipped': count('skip') + waivedCount,
  };
}

function problemSuite(problems: readonly RunProblem[]): readonly Element[] {
  if (problems.length === 0) return [];
  const testcase = problems.map(({ code, text }) => ({
    '@name': printableText(text),
    '@classname': 'run',
    '@time': seconds(0),
    failure: { '@message': within(MESSAGE_MAX_BYTES, text), '@type': code },
  }));
  return [{ '@name': 'run', ...counts([], problems.length), '@time': seconds(0), testcase }];
}

function testCase(caseVerdict: CaseVerdict, scripts: ScriptFiles): Element {
  const property = [
    ...properties('level', [caseVerdict.level]),
    ...properties('effect', [caseVerdict.effect]),
    ...properties('requirement', caseVerdict.requirements),
    ...properties('violated', caseVerdict.violated ?? []),
    ...properties('needs', caseVerdict.needs),
    ...properties('waived', caseVerdict.waiver ? [waiverText(caseVerdict.waiver)] : []),
  ];
  return {
    '@name': `${caseVerdict.id}: ${caseVerdict.title}`,
    '@classname': areaOf(caseVerdict),
    '@time': seconds(caseVerdict.durationMs),
    properties: { property },
    ...outcome(caseVerdict, scripts),
  };
}

function properties(name: string, values: readonly string[]): readonly Element[] {
  return values.map((value) => ({ '@name': name, '@value': printableText(value) }));
}

/** Returns the beginning of a text that is no longer than this in the document. */
export function within(bytesMax: number, text: string): string {
  const printableBody = printableText(text);
  const note = '… (the JSON report has the rest)';
  let room = bytesMax - Buffer.byteLength(note);
  let end = 0;
  for (const character of printableBody) {
    room -= entityBytes[character] ?? Buffer.byteLength(character);
    if (room < 0) break;
    end += character.length;
  }
  return end === printableBody.length ? printableBody : printableBody.slice(0, end) + note;
}

/** Returns the message of an outcome, and the evidence as its text, both within the limit. */
function messageElement(message: string, evidence: readonly string[]): Element {
  return {
    '@message': within(MESSAGE_MAX_BYTES, message),
    '#text': within(OUTCOME_MAX_BYTES - MESSAGE_MAX_BYTES - TAGS_MAX_BYTES, evidence.join('\n')),
  };
}

function outcome(caseVerdict: CaseVerdict, scripts: ScriptFiles): Element {
  const {
    verdict,
    expected = '',
    actual = '',
    reason,
    observation = '',
    sentences,
    violations = [],
  } = caseVerdict;
  const script = scripts.get(caseVerdict.id);
  const evidence = [
    ...(script === undefined ? [] : [`repro: ${scriptCommand(script)}`]),
    ...sentences,
    ...violations.map(violationText),
    ...(caseVerdict.exchanges ?? [])
      .slice(-1)
      .map((lastExchange) => withoutBase64(JSON.stringify(lastExchange, null, 1))),
  ];
  const reasonText = within(MESSAGE_MAX_BYTES, reason?.text ?? '');
  if (caseVerdict.waiver) {
    const message = `${waiverText(caseVerdict.waiver)}; actual ${caseVerdict.actual ?? reasonText}`;
    return { skipped: { '@message': within(OUTCOME_MAX_BYTES - TAGS_MAX_BYTES, message) } };
  }
  switch (verdict) {
    case 'fail':
      if (caseVerdict.tolerated) {
        const message = `a SHOULD, which does not fail this run: expected ${expected}, actual ${actual}`;
        return { skipped: { '@message': within(OUTCOME_MAX_BYTES - TAGS_MAX_BYTES, message) } };
      }
      return {
        failure: {
          ...messageElement(`expected ${expected}, actual ${actual}`, evidence),
          '@type': caseVerdict.level,
        },
      };
    case 'error':
    case 'inconclusive':
      return {
        error: {
          ...messageElement(reason?.text ?? '', evidence),
          '@type': reason?.code ?? verdict,
        },
      };
    case 'skip':
      return { skipped: { '@message': reasonText } };
    case 'observed':
      return { 'system-out': within(OUTCOME_MAX_BYTES - TAGS_MAX_BYTES, observation) };
    case 'pass':
      return {};
  }
}
