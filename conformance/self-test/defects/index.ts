/** Every planted defect, area by area. */
import type { Defect } from '../defect.ts';
import { artifactLinkDefects } from './artifact-link.ts';
import { artifactDefects } from './artifacts.ts';
import { auditLogDefects } from './audit-log.ts';
import { authenticationDefects } from './authentication.ts';
import { configurationDefects } from './configuration.ts';
import { configurationDownloadDefects } from './configuration-download.ts';
import { connectDefects } from './connect.ts';
import { deploymentInstructionDefects } from './deployment-instructions.ts';
import { deploymentLogDefects } from './deployment-log.ts';
import { deploymentStatusDefects } from './deployment-status.ts';
import { inventoryDefects } from './inventory.ts';
import { monitorDefects } from './monitor.ts';
import { nextDeploymentDefects } from './next-deployment.ts';
import { nextDeploymentInputDefects } from './next-deployment-inputs.ts';
import { updateControlMapDefects } from './update-control-map.ts';

/** All rows. */
export const allDefects: readonly Defect[] = [
  ...authenticationDefects,
  ...nextDeploymentInputDefects,
  ...nextDeploymentDefects,
  ...deploymentInstructionDefects,
  ...deploymentStatusDefects,
  ...deploymentLogDefects,
  ...updateControlMapDefects,
  ...artifactDefects,
  ...artifactLinkDefects,
  ...configurationDefects,
  ...configurationDownloadDefects,
  ...inventoryDefects,
  ...monitorDefects,
  ...auditLogDefects,
  ...connectDefects,
];
