/** The report formats of a fleet run. */
import { fleetCsv } from '../../simulator/report/csv.ts';
import { fleetHtml } from '../../simulator/report/html.ts';
import { fleetJunit } from '../../simulator/report/junit.ts';
import type { RunFinding } from '../../simulator/result/finding.ts';
import { outcomeOf } from '../../simulator/result/outcome.ts';
import type { FleetResult } from '../../simulator/result/result.ts';
import { type CiSummary, ciFormats } from '../output/ci-summary.ts';
import { jsonFile, type ReportFormat } from './reports.ts';

const [markdown, annotations] = ciFormats(summaryOf);

interface FleetFormat extends ReportFormat<FleetResult> {
  /**
   * Name of the format in the help of `report render`; absent for the result itself, which is the
   * input of that command.
   */
  readonly title?: string;
}

/**
 * The formats of `simulate --report`; all except the result itself are also options of `report
 * render`.
 */
export const fleetFormats: readonly FleetFormat[] = [
  { format: 'json', render: jsonFile },
  { format: 'junit', title: 'JUnit XML', render: fleetJunit },
  { format: 'html', title: 'the HTML report', render: fleetHtml },
  { format: 'csv', title: 'figures by stage and operation as CSV', render: fleetCsv },
  { ...markdown, title: 'a summary in Markdown' },
  { ...annotations, title: 'annotations for GitHub' },
];

function summaryOf(result: FleetResult): CiSummary {
  const { headline, findings } = outcomeOf(result);
  const isUnsuccessful = ({ state }: RunFinding): boolean =>
    state !== 'passed' && state !== 'not judged';
  const states = [...new Set(findings.map(({ state }) => state))];
  const counts = states.map((state) => [
    state,
    findings.filter((finding) => finding.state === state).length,
  ]);
  return {
    title: `Fleet against ${result.plan.baseUrl}`,
    headline,
    counts: Object.fromEntries(counts),
    findings: findings.filter(isUnsuccessful).map(({ state, condition, sentence }) => ({
      level: state === 'inconclusive' ? 'warning' : 'error',
      subject: condition,
      sentence,
    })),
  };
}
