/** Every planted defect, area by area. */
import type { Defect } from '../defect.ts';
import { artifactLinkDefects } from './artifact-link.ts';
import { artifactDefects } from './artifacts.ts';
import { auditLogDefects } from './audit-log.ts';
import { authenticationDefects } from './authentication.ts';
import { configurationDefects } from './configuration.ts';
import { configurationDownloadDefects } from './configuration-download.ts';
import { connectDefects } from './connect.ts';
import { deploymentDefects } from './deployments.ts';
import { inventoryDefects } from './inventory.ts';
import { monitorDefects } from './monitor.ts';

/** All rows. */
export const allDefects: readonly Defect[] = [
  ...authenticationDefects,
  ...deploymentDefects,
  ...artifactDefects,
  ...artifactLinkDefects,
  ...configurationDefects,
  ...configurationDownloadDefects,
  ...inventoryDefects,
  ...monitorDefects,
  ...auditLogDefects,
  ...connectDefects,
];
