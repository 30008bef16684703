/** The report formats of a fleet run. */
import { fleetCsv } from '../../simulator/report/csv.ts';
import { fleetHtml } from '../../simulator/report/html.ts';
import { fleetJunit } from '../../simulator/report/junit.ts';
import type { FleetResult } from '../../simulator/result/result.ts';
import { jsonFile, type ReportForm } from './reports.ts';

interface FleetForm extends ReportForm<FleetResult> {
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
export const fleetForms: readonly FleetForm[] = [
  { form: 'json', render: jsonFile },
  { form: 'junit', title: 'JUnit XML', render: fleetJunit },
  { form: 'html', title: 'the HTML report', render: fleetHtml },
  { form: 'csv', title: 'figures by phase and operation as CSV', render: fleetCsv },
];
