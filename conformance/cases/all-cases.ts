/** Every case of the suite, in execution order. */
import { hostileCases } from '../model/hostile.ts';
import { modelCases } from '../model/random-life.ts';
import type { RunnableCase } from '../suite/case.ts';
import { artifactLinkCases } from './artifact-link/artifact-link.ts';
import { artifactLinkConditionCases } from './artifact-link/artifact-link-conditions.ts';
import { artifactLinkRangeCases } from './artifact-link/artifact-link-range.ts';
import { artifactLinkStreamingCases } from './artifact-link/artifact-link-streaming.ts';
import { linkUntilExpiryCases } from './artifact-link/links-until-expiry.ts';
import { artifactEditCases } from './artifacts/artifact-edits.ts';
import { artifactFieldCases } from './artifacts/artifact-fields.ts';
import { artifactListCases } from './artifacts/artifact-lists.ts';
import { artifactLifeCases } from './artifacts/artifact-lives.ts';
import { artifactVariantCases } from './artifacts/artifact-variants.ts';
import { artifactCases } from './artifacts/artifacts.ts';
import { auditActionStateCases } from './audit-log/audit-action-states.ts';
import { auditActionCases } from './audit-log/audit-actions.ts';
import { auditActorCases } from './audit-log/audit-actors.ts';
import { auditDeviceActions } from './audit-log/audit-device-actions.ts';
import { auditEntryCases } from './audit-log/audit-entry.ts';
import { auditExportCases } from './audit-log/audit-export.ts';
import { auditExportCombinedCases } from './audit-log/audit-export-combined.ts';
import { auditExportValueCases } from './audit-log/audit-export-values.ts';
import { auditListCombinedCases } from './audit-log/audit-list-combined.ts';
import { auditLogCases } from './audit-log/audit-log.ts';
import { auditOrderCases } from './audit-log/audit-order.ts';
import { auditPagingCases } from './audit-log/audit-paging.ts';
import { auditShownValueCases } from './audit-log/audit-shown-values.ts';
import { auditUserActionCases } from './audit-log/audit-user-actions.ts';
import { auditValueCases } from './audit-log/audit-values.ts';
import { authenticationCases } from './authentication/authentication.ts';
import { authenticationEffectCases } from './authentication/authentication-effects.ts';
import { authenticationObservedCases } from './authentication/authentication-observed.ts';
import { authenticationRaceCases } from './authentication/authentication-races.ts';
import { authenticationRequestCases } from './authentication/authentication-request.ts';
import { authenticationSignatureCases } from './authentication/authentication-signature.ts';
import { authorizationCases } from './authorization/authorization.ts';
import { authorizationOtherDeviceCases } from './authorization/authorization-other-devices.ts';
import { roleCases } from './authorization/roles.ts';
import { tenantCases } from './authorization/tenants.ts';
import { userTokenCases } from './authorization/user-tokens.ts';
import { configurationCases } from './configuration/configuration.ts';
import { configurationDownloadCases } from './configuration/configuration-download.ts';
import { configurationVariantCases } from './configuration/configuration-variants.ts';
import { configurationInTurnCases } from './configuration/configurations-in-turn.ts';
import { connectCases } from './connect/connect.ts';
import { connectFrameCases } from './connect/connect-frames.ts';
import { connectPresenceCases } from './connect/connect-presence.ts';
import { deploymentInstructionCases } from './deployments/deployment-instructions.ts';
import { deploymentLogCases } from './deployments/deployment-log.ts';
import { deploymentStateCases } from './deployments/deployment-states.ts';
import { deploymentStatusCases } from './deployments/deployment-status.ts';
import { deploymentInTurnCases } from './deployments/deployments-in-turn.ts';
import { nextDeploymentCases } from './deployments/next-deployment.ts';
import { nextDeploymentChoiceCases } from './deployments/next-deployment-choice.ts';
import { nextDeploymentFitCases } from './deployments/next-deployment-fit.ts';
import { nextDeploymentInputCases } from './deployments/next-deployment-inputs.ts';
import { nextDeploymentNameCases } from './deployments/next-deployment-names.ts';
import { nextDeploymentStabilityCases } from './deployments/next-deployment-stability.ts';
import { updateControlMapCases } from './deployments/update-control-map.ts';
import { updateControlMapContentCases } from './deployments/update-control-map-contents.ts';
import { givenControlMapCases } from './deployments/update-control-map-given.ts';
import { bodyFieldCases } from './every-operation/body-fields.ts';
import { deprecatedFieldCases } from './every-operation/deprecated-fields.ts';
import { deprecationCases } from './every-operation/deprecations.ts';
import { emptyBodyCases } from './every-operation/empty-bodies.ts';
import { errorCases } from './every-operation/errors.ts';
import { faultCases } from './every-operation/faults.ts';
import { keptDataCases } from './every-operation/kept-data.ts';
import { letterCaseCases } from './every-operation/letter-case.ts';
import { longTextCases } from './every-operation/long-texts.ts';
import { quantityCases } from './every-operation/quantities.ts';
import { raceCases } from './every-operation/races.ts';
import { rawRequestVariantCases } from './every-operation/raw-request-variants.ts';
import { refusedWriteCases } from './every-operation/refused-writes.ts';
import { requestIdCases } from './every-operation/request-ids.ts';
import { requestVariantCases } from './every-operation/request-variants.ts';
import { serviceCases } from './every-operation/service.ts';
import { versioningCases } from './every-operation/versioning.ts';
import { writesAtOnceCases } from './every-operation/writes-at-once.ts';
import { inventoryCases } from './inventory/inventory.ts';
import { inventoryChangeCases } from './inventory/inventory-changes.ts';
import { inventoryMergingCases } from './inventory/inventory-merging.ts';
import { inventoryRefusalCases } from './inventory/inventory-refusals.ts';
import { inventoryVariantCases } from './inventory/inventory-variants.ts';
import { monitorCases } from './monitor/monitor.ts';
import { monitorAlertFieldCases } from './monitor/monitor-alert-fields.ts';
import { monitorVariantCases } from './monitor/monitor-variants.ts';
import { timeCases } from './time/time.ts';
import { timeLinkCases } from './time/time-links.ts';
import { timeStateCases } from './time/time-states.ts';

/** The cases: first the life of a device from its first contact, then users, then the rest. */
export const allCases: readonly RunnableCase[] = [
  ...serviceCases,
  ...errorCases,
  ...requestIdCases,
  ...versioningCases,
  ...requestVariantCases,
  ...rawRequestVariantCases,
  ...authenticationCases,
  ...authenticationObservedCases,
  ...authenticationRequestCases,
  ...authenticationSignatureCases,
  ...authenticationEffectCases,
  ...authenticationRaceCases,
  ...keptDataCases,
  ...authorizationCases,
  ...authorizationOtherDeviceCases,
  ...inventoryCases,
  ...inventoryChangeCases,
  ...inventoryVariantCases,
  ...inventoryMergingCases,
  ...inventoryRefusalCases,
  ...emptyBodyCases,
  ...nextDeploymentInputCases,
  ...nextDeploymentCases,
  ...nextDeploymentNameCases,
  ...deploymentInstructionCases,
  ...nextDeploymentChoiceCases,
  ...nextDeploymentFitCases,
  ...nextDeploymentStabilityCases,
  ...deploymentStatusCases,
  ...deploymentStateCases,
  ...deploymentInTurnCases,
  ...deploymentLogCases,
  ...updateControlMapCases,
  ...givenControlMapCases,
  ...updateControlMapContentCases,
  ...raceCases,
  ...writesAtOnceCases,
  ...quantityCases,
  ...longTextCases,
  ...deprecationCases,
  ...deprecatedFieldCases,
  ...bodyFieldCases,
  ...refusedWriteCases,
  ...artifactCases,
  ...artifactFieldCases,
  ...artifactVariantCases,
  ...artifactListCases,
  ...artifactEditCases,
  ...artifactLifeCases,
  ...artifactLinkCases,
  ...artifactLinkRangeCases,
  ...artifactLinkConditionCases,
  ...artifactLinkStreamingCases,
  ...configurationCases,
  ...configurationDownloadCases,
  ...configurationVariantCases,
  ...configurationInTurnCases,
  ...linkUntilExpiryCases,
  ...connectCases,
  ...connectPresenceCases,
  ...connectFrameCases,
  ...monitorCases,
  ...monitorAlertFieldCases,
  ...monitorVariantCases,
  ...letterCaseCases,
  ...auditLogCases,
  ...auditOrderCases,
  ...auditPagingCases,
  ...auditListCombinedCases,
  ...auditValueCases,
  ...auditEntryCases,
  ...auditActionCases,
  ...auditUserActionCases,
  ...auditActionStateCases,
  ...auditActorCases,
  ...auditShownValueCases,
  ...userTokenCases,
  ...auditDeviceActions,
  ...auditExportCases,
  ...auditExportCombinedCases,
  ...auditExportValueCases,
  ...modelCases,
  ...hostileCases,
  ...faultCases,
  ...roleCases,
  ...tenantCases,
  ...timeCases,
  ...timeLinkCases,
  ...timeStateCases,
];
