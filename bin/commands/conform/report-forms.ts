/** The forms of a report on a run of the suite. */
import { type ConformanceResult, listCases } from '../../../conformance/conformance.ts';
import { conformanceHtml } from '../../../conformance/report/html.ts';
import { conformanceJunit } from '../../../conformance/report/junit.ts';
import type { Comparison } from '../../../conformance/result/compare.ts';
import { coverageOf } from '../../../conformance/result/coverage.ts';
import { jsonFile, type ReportForm } from '../../options/reports.ts';

/** A run of the suite. */
interface JudgedRun {
  readonly result: ConformanceResult;
  /** With an earlier run, where there is one. */
  readonly comparison?: Comparison | undefined;
}

/** Each is one of `conform --report`. */
export const conformanceForms: readonly ReportForm<JudgedRun>[] = [
  { form: 'json', render: ({ result }) => jsonFile(result) },
  { form: 'junit', render: ({ result }) => conformanceJunit(result) },
  {
    form: 'html',
    render: ({ result, comparison }) =>
      conformanceHtml(result, coverageOf(listCases()), comparison),
  },
];
