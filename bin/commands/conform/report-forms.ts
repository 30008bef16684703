/** The report formats of a conformance run. */
import { type ConformanceResult, listCases } from '../../../conformance/conformance.ts';
import { conformanceHtml } from '../../../conformance/report/html.ts';
import { conformanceJunit } from '../../../conformance/report/junit.ts';
import type { ResultComparison } from '../../../conformance/result/compare.ts';
import { coverageOf } from '../../../conformance/result/coverage.ts';
import { jsonFile, type ReportForm } from '../../options/reports.ts';

/** A conformance run to report. */
interface JudgedRun {
  readonly result: ConformanceResult;
  /** The comparison with an earlier run, if one was requested. */
  readonly comparison?: ResultComparison | undefined;
  /** The files of the repro scripts, by case id. */
  readonly scripts?: ReadonlyMap<string, string> | undefined;
}

/** The formats that `conform --report` accepts. */
export const conformanceForms: readonly ReportForm<JudgedRun>[] = [
  { form: 'json', render: ({ result }) => jsonFile(result) },
  { form: 'junit', render: ({ result, scripts }) => conformanceJunit(result, scripts) },
  {
    form: 'html',
    render: ({ result, comparison }) =>
      conformanceHtml(result, coverageOf(listCases()), comparison),
  },
];
