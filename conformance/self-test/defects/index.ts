/** Every planted defect, area by area. */
import type { Defect } from '../defect.ts';
import { artifactDefects } from './artifacts.ts';
import { auditLogDefects } from './audit-log.ts';
import { authenticationDefects } from './authentication.ts';
import { connectDefects } from './connect.ts';
import { deploymentDefects } from './deployments.ts';

/** All rows. */
export const allDefects: readonly Defect[] = [
  ...authenticationDefects,
  ...deploymentDefects,
  ...artifactDefects,
  ...auditLogDefects,
  ...connectDefects,
];
