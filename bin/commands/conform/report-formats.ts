/** The report formats of a conformance run. */
import { type ConformanceResult, listCases } from '../../../conformance/conformance.ts';
import { conformanceHtml } from '../../../conformance/report/html.ts';
import { conformanceJunit } from '../../../conformance/report/junit.ts';
import { scriptCommand } from '../../../conformance/report/repro-scripts.ts';
import type { ResultComparison } from '../../../conformance/result/compare.ts';
import { coverageOf } from '../../../conformance/result/coverage.ts';
import { type CaseVerdict, isWaived } from '../../../conformance/result/result.ts';
import { jsonFile, type ReportFormat } from '../../options/reports.ts';
import { type CiFinding, type CiSummary, ciFormats } from '../../output/ci-summary.ts';

/** A conformance run to report. */
interface JudgedRun {
  readonly result: ConformanceResult;
  /** The comparison with an earlier run, if one was requested. */
  readonly comparison?: ResultComparison | undefined;
  /** The files of the repro scripts, by case ID. */
  readonly scripts?: ReadonlyMap<string, string> | undefined;
}

/** The formats that `conform --report` accepts. */
export const conformanceFormats: readonly ReportFormat<JudgedRun>[] = [
  { format: 'json', render: ({ result }) => jsonFile(result) },
  { format: 'junit', render: ({ result, scripts }) => conformanceJunit(result, scripts) },
  {
    format: 'html',
    render: ({ result, comparison }) =>
      conformanceHtml(result, coverageOf(listCases()), comparison),
  },
  ...ciFormats(summaryOf),
];

function summaryOf({ result, scripts }: JudgedRun): CiSummary {
  const { target, headline, totals, problems, verdicts } = result;
  const decided = verdicts.filter((each) => !isWaived(each));
  const finding = (
    level: CiFinding['level'],
    caseVerdict: CaseVerdict,
    sentence: string,
  ): CiFinding => {
    const script = scripts?.get(caseVerdict.id);
    const repeat = script === undefined ? undefined : scriptCommand(script);
    return { level, subject: caseVerdict.id, sentence, repeat };
  };
  return {
    title: `Conformance of ${target.baseUrl}`,
    headline,
    counts: totals,
    findings: [
      ...problems.map(
        ({ code, text }) => ({ level: 'error', subject: code, sentence: text }) as const,
      ),
      ...decided
        .filter(({ verdict }) => verdict === 'fail')
        .map((each) => finding('error', each, `expected ${each.expected}, actual ${each.actual}`)),
      ...decided
        .filter(({ verdict }) => verdict === 'error' || verdict === 'inconclusive')
        .map((each) => finding('warning', each, `${each.verdict}: ${each.reason?.text ?? ''}`)),
    ],
  };
}
