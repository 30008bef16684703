/** What becomes of a status report: the part's state decides. Spec: States and transitions */
import type { DeviceDeploymentStatus } from '../../fixtures/contract/vocabulary.ts';

/**
 * Why a report is refused with 409, and nothing changed, in the states that refuse any. In every
 * other state the report becomes the status.
 */
export const refusedReports: Partial<Record<DeviceDeploymentStatus, string>> = {
  aborted: 'the deployment was aborted; stop the update',
  decommissioned: 'the device was decommissioned',
};
