/** Every case of the suite, in execution order. */

import { hostileCases } from '../model/hostile.ts';
import { modelCases } from '../model/random-life.ts';
import type { RunnableCase } from '../suite/case.ts';
import { artifactEditCases } from './artifact-edits.ts';
import { artifactFieldCases } from './artifact-fields.ts';
import { artifactFormCases } from './artifact-forms.ts';
import { artifactLinkCases } from './artifact-link.ts';
import { artifactLinkConditionCases } from './artifact-link-conditions.ts';
import { artifactLinkRangeCases } from './artifact-link-range.ts';
import { artifactLinkStreamingCases } from './artifact-link-streaming.ts';
import { artifactListCases } from './artifact-lists.ts';
import { artifactLifeCases } from './artifact-lives.ts';
import { artifactCases } from './artifacts.ts';
import { auditActStateCases } from './audit-act-states.ts';
import { auditActionCases } from './audit-actions.ts';
import { auditActorCases } from './audit-actors.ts';
import { auditActCases } from './audit-acts.ts';
import { auditDeviceActs } from './audit-device-acts.ts';
import { auditEntryCases } from './audit-entry.ts';
import { auditExportCases } from './audit-export.ts';
import { auditExportCombinedCases } from './audit-export-combined.ts';
import { auditExportValueCases } from './audit-export-values.ts';
import { auditListCombinedCases } from './audit-list-combined.ts';
import { auditLogCases } from './audit-log.ts';
import { auditPagingCases } from './audit-paging.ts';
import { auditShownValueCases } from './audit-shown-values.ts';
import { auditValueCases } from './audit-values.ts';
import { authenticationCases } from './authentication.ts';
import { authenticationEffectCases } from './authentication-effects.ts';
import { authenticationObservedCases } from './authentication-observed.ts';
import { authenticationRaceCases } from './authentication-races.ts';
import { authenticationRequestCases } from './authentication-request.ts';
import { authenticationSignatureCases } from './authentication-signature.ts';
import { authorizationCases } from './authorization.ts';
import { authorizationOtherDeviceCases } from './authorization-other-devices.ts';
import { bodyFieldCases } from './body-fields.ts';
import { configurationCases } from './configuration.ts';
import { configurationDownloadCases } from './configuration-download.ts';
import { configurationFormCases } from './configuration-forms.ts';
import { configurationInTurnCases } from './configurations-in-turn.ts';
import { connectCases } from './connect.ts';
import { connectFrameCases } from './connect-frames.ts';
import { connectPresenceCases } from './connect-presence.ts';
import { deploymentInstructionCases } from './deployment-instructions.ts';
import { deploymentLogCases } from './deployment-log.ts';
import { deploymentStateCases } from './deployment-states.ts';
import { deploymentStatusCases } from './deployment-status.ts';
import { deploymentInTurnCases } from './deployments-in-turn.ts';
import { deprecationCases } from './deprecations.ts';
import { emptyBodyCases } from './empty-bodies.ts';
import { errorCases } from './errors.ts';
import { faultCases } from './faults.ts';
import { inventoryCases } from './inventory.ts';
import { inventoryChangeCases } from './inventory-changes.ts';
import { inventoryFormCases } from './inventory-forms.ts';
import { inventoryMergingCases } from './inventory-merging.ts';
import { inventoryRefusalCases } from './inventory-refusals.ts';
import { keptDataCases } from './kept-data.ts';
import { lastingLinkCases } from './lasting-links.ts';
import { legalFormCases } from './legal-forms.ts';
import { letterCaseCases } from './letter-case.ts';
import { longTextCases } from './long-texts.ts';
import { monitorCases } from './monitor.ts';
import { monitorAlertFieldCases } from './monitor-alert-fields.ts';
import { monitorFormCases } from './monitor-forms.ts';
import { nextDeploymentCases } from './next-deployment.ts';
import { nextDeploymentChoiceCases } from './next-deployment-choice.ts';
import { nextDeploymentFitCases } from './next-deployment-fit.ts';
import { nextDeploymentInputCases } from './next-deployment-inputs.ts';
import { nextDeploymentLastingCases } from './next-deployment-lasting.ts';
import { nextDeploymentNameCases } from './next-deployment-names.ts';
import { quantityCases } from './quantities.ts';
import { raceCases } from './races.ts';
import { rawFormCases } from './raw-forms.ts';
import { refusedWriteCases } from './refused-writes.ts';
import { requestIdCases } from './request-ids.ts';
import { roleCases } from './roles.ts';
import { serviceCases } from './service.ts';
import { tenantCases } from './tenants.ts';
import { timeCases } from './time.ts';
import { timeLinkCases } from './time-links.ts';
import { timeStateCases } from './time-states.ts';
import { updateControlMapCases } from './update-control-map.ts';
import { updateControlMapContentCases } from './update-control-map-contents.ts';
import { givenControlMapCases } from './update-control-map-given.ts';
import { userTokenCases } from './user-tokens.ts';
import { versioningCases } from './versioning.ts';
import { writesAtOnceCases } from './writes-at-once.ts';

/** The cases: first the life of a device from its first contact, then users, then the rest. */
export const allCases: readonly RunnableCase[] = [
  ...serviceCases,
  ...errorCases,
  ...requestIdCases,
  ...versioningCases,
  ...legalFormCases,
  ...rawFormCases,
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
  ...inventoryFormCases,
  ...inventoryMergingCases,
  ...inventoryRefusalCases,
  ...emptyBodyCases,
  ...nextDeploymentInputCases,
  ...nextDeploymentCases,
  ...nextDeploymentNameCases,
  ...deploymentInstructionCases,
  ...nextDeploymentChoiceCases,
  ...nextDeploymentFitCases,
  ...nextDeploymentLastingCases,
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
  ...bodyFieldCases,
  ...refusedWriteCases,
  ...artifactCases,
  ...artifactFieldCases,
  ...artifactFormCases,
  ...artifactListCases,
  ...artifactEditCases,
  ...artifactLifeCases,
  ...artifactLinkCases,
  ...artifactLinkRangeCases,
  ...artifactLinkConditionCases,
  ...artifactLinkStreamingCases,
  ...configurationCases,
  ...configurationDownloadCases,
  ...configurationFormCases,
  ...configurationInTurnCases,
  ...lastingLinkCases,
  ...connectCases,
  ...connectPresenceCases,
  ...connectFrameCases,
  ...monitorCases,
  ...monitorAlertFieldCases,
  ...monitorFormCases,
  ...letterCaseCases,
  ...auditLogCases,
  ...auditPagingCases,
  ...auditListCombinedCases,
  ...auditValueCases,
  ...auditEntryCases,
  ...auditActionCases,
  ...auditActCases,
  ...auditActStateCases,
  ...auditActorCases,
  ...auditShownValueCases,
  ...userTokenCases,
  ...auditDeviceActs,
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
