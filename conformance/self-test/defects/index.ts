/** Every defect, area by area. */
import type { Defect } from '../defect.ts';
import { artifactLinkDefects } from './artifact-link.ts';
import { artifactLifeDefects } from './artifact-lives.ts';
import { artifactVariantDefects } from './artifact-variants.ts';
import { artifactDefects } from './artifacts.ts';
import { atOnceDefects } from './at-once.ts';
import { auditActionStateDefects } from './audit-action-states.ts';
import { auditEntryDefects } from './audit-entry.ts';
import { auditExportDefects } from './audit-export.ts';
import { auditLogDefects } from './audit-log.ts';
import { auditValueDefects } from './audit-values.ts';
import { authenticationDefects } from './authentication.ts';
import { authenticationEffectDefects } from './authentication-effects.ts';
import { authorizationDefects } from './authorization.ts';
import { bodyFieldDefects } from './body-fields.ts';
import { configurationDefects } from './configuration.ts';
import { configurationDownloadDefects } from './configuration-download.ts';
import { configurationVariantDefects } from './configuration-variants.ts';
import { connectDefects } from './connect.ts';
import { connectFrameDefects } from './connect-frames.ts';
import { deploymentInstructionDefects } from './deployment-instructions.ts';
import { deploymentLogDefects } from './deployment-log.ts';
import { deploymentStatusDefects } from './deployment-status.ts';
import { deploymentInTurnDefects } from './deployments-in-turn.ts';
import { deprecationDefects } from './deprecations.ts';
import { errorDefects } from './errors.ts';
import { faultDefects } from './faults.ts';
import { generatedDefects } from './generated.ts';
import { identityDefects } from './identities.ts';
import { inventoryDefects } from './inventory.ts';
import { inventoryMergingDefects } from './inventory-merging.ts';
import { inventoryRefusalDefects } from './inventory-refusals.ts';
import { keptDataDefects } from './kept-data.ts';
import { monitorDefects } from './monitor.ts';
import { monitorVariantDefects } from './monitor-variants.ts';
import { nearMissDefects } from './near-misses.ts';
import { nearMissAuditDefects } from './near-misses-audit.ts';
import { nearMissLinkDefects } from './near-misses-links.ts';
import { nextDeploymentDefects } from './next-deployment.ts';
import { nextDeploymentFitDefects } from './next-deployment-fit.ts';
import { nextDeploymentInputDefects } from './next-deployment-inputs.ts';
import { nextDeploymentNameDefects } from './next-deployment-names.ts';
import { nowAndThenDefects } from './now-and-then.ts';
import { orderDefects } from './order.ts';
import { quantityDefects } from './quantities.ts';
import { rawRequestVariantDefects } from './raw-request-variants.ts';
import { refusedWriteDefects } from './refused-writes.ts';
import { requestVariantDefects } from './request-variants.ts';
import { roleDefects } from './roles.ts';
import { serviceDefects } from './service.ts';
import { signatureDefects } from './signatures.ts';
import { tenantDefects } from './tenants.ts';
import { timeDefects } from './time.ts';
import { tokenDefects } from './tokens.ts';
import { updateControlMapDefects } from './update-control-map.ts';
import { updateControlMapContentDefects } from './update-control-map-contents.ts';
import { validInputDefects } from './valid-input.ts';
import { versioningDefects } from './versioning.ts';

export const allDefects: readonly Defect[] = [
  ...serviceDefects,
  ...errorDefects,
  ...versioningDefects,
  ...authenticationDefects,
  ...authenticationEffectDefects,
  ...identityDefects,
  ...keptDataDefects,
  ...nextDeploymentInputDefects,
  ...nextDeploymentDefects,
  ...nextDeploymentNameDefects,
  ...nextDeploymentFitDefects,
  ...deploymentInstructionDefects,
  ...deploymentStatusDefects,
  ...deploymentInTurnDefects,
  ...deploymentLogDefects,
  ...updateControlMapDefects,
  ...updateControlMapContentDefects,
  ...signatureDefects,
  ...tokenDefects,
  ...authorizationDefects,
  ...artifactDefects,
  ...artifactVariantDefects,
  ...artifactLinkDefects,
  ...artifactLifeDefects,
  ...configurationDefects,
  ...configurationDownloadDefects,
  ...configurationVariantDefects,
  ...inventoryDefects,
  ...inventoryRefusalDefects,
  ...inventoryMergingDefects,
  ...monitorDefects,
  ...monitorVariantDefects,
  ...requestVariantDefects,
  ...validInputDefects,
  ...quantityDefects,
  ...deprecationDefects,
  ...rawRequestVariantDefects,
  ...bodyFieldDefects,
  ...refusedWriteDefects,
  ...nearMissDefects,
  ...nearMissAuditDefects,
  ...nearMissLinkDefects,
  ...auditEntryDefects,
  ...auditLogDefects,
  ...auditValueDefects,
  ...auditExportDefects,
  ...auditActionStateDefects,
  ...connectDefects,
  ...faultDefects,
  ...roleDefects,
  ...tenantDefects,
  ...timeDefects,
  ...connectFrameDefects,
  ...orderDefects,
  ...atOnceDefects,
  ...nowAndThenDefects,
  ...generatedDefects,
];
