/** The list of all duties of a device client. */
import type { Duty } from '../duty.ts';
import { authenticationDuties } from './authentication.ts';
import { connectDuties } from './connect.ts';
import { downloadDuties } from './downloads.ts';
import { failedReportDuties } from './failed-reports.ts';
import { pollingDuties } from './polling.ts';
import { httpDuties } from './requests.ts';
import { resourceDuties } from './resources.ts';
import { serviceDuties } from './services.ts';
import { statusDuties } from './statuses.ts';

/** Every duty, by area. */
export const duties: readonly Duty[] = [
  ...authenticationDuties,
  ...pollingDuties,
  ...downloadDuties,
  ...statusDuties,
  ...failedReportDuties,
  ...resourceDuties,
  ...serviceDuties,
  ...connectDuties,
  ...httpDuties,
];
