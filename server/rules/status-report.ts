/** What becomes of a status report: the part's state decides. Spec: States and transitions */
import {
  type DeviceDeploymentStatus,
  deviceDeploymentStatuses,
} from '../../fixtures/contract/vocabulary.ts';

/** Taken as reported, or refused with 409 and nothing changed. */
export interface ReportDecision {
  readonly decision: 'take' | 'refuse';
  readonly because: string;
}

const take: ReportDecision = { decision: 'take', because: 'the report becomes the status' };

/** Every state of a part; any report is legal in all but two of them. */
export const reportDecisions: Record<DeviceDeploymentStatus, ReportDecision> = {
  ...(Object.fromEntries(deviceDeploymentStatuses.map((status) => [status, take])) as Record<
    DeviceDeploymentStatus,
    ReportDecision
  >),
  aborted: { decision: 'refuse', because: 'the deployment was aborted; stop the update' },
  decommissioned: { decision: 'refuse', because: 'the device was decommissioned' },
};
