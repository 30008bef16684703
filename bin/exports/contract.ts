/**
 * `import { operations } from 'fleetbed/contract'`: the contract of the API as data, as server,
 * simulator and suite use it.
 */
import type * as v from 'valibot';
import { jsonSchemaOf } from '../../fixtures/base/json-schema.ts';
import {
  type ManagementId,
  managementOperations as managementRows,
} from '../../fixtures/contract/management/index.ts';
import type { OpenPoint } from '../../fixtures/contract/open-point.ts';
import { openPoints as points } from '../../fixtures/contract/open-points.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { type OperationId, operations as rows } from '../../fixtures/contract/operations.ts';
import {
  type RequirementId,
  requirements as requirementRows,
} from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import * as resources from '../../fixtures/contract/resources.ts';

export { limits } from '../../fixtures/contract/limits.ts';
export type {
  Alert,
  Artifact,
  ArtifactLink,
  Attribute,
  AuditLog,
  AuthRequest,
  DeploymentInstructionsV1,
  DeploymentInstructionsV2,
  DeploymentLog,
  DeploymentStatus,
  DeviceConfiguration,
  MonitorConfiguration,
  UpdateControlMap,
} from '../../fixtures/contract/resources.ts';
export {
  type DeviceDeploymentStatus,
  deviceDeploymentStatuses,
  type ReportableStatus,
  reportableStatuses,
} from '../../fixtures/contract/vocabulary.ts';
export type { ManagementId, OpenPoint, OperationId, Requirement, RequirementId };

/** One operation of the API: its request, and the statuses and bodies of its responses. */
export type ContractOperation = Pick<
  Operation,
  | ('id' | 'method' | 'path' | 'authorization' | 'query' | 'body' | 'bodyOptional' | 'mediaType')
  | ('success' | 'refusals' | 'deprecated' | 'heading')
>;

/** The operations of the contract, by ID. Source: "Endpoints" of the contract. */
export const operations: Readonly<Record<OperationId, ContractOperation>> = rows;

/**
 * The management operations that the reference server has besides those of the contract, by ID.
 * Servers of this API family agree on them in practice; the contract does not describe them.
 */
export const managementOperations: Readonly<Record<ManagementId, ContractOperation>> =
  managementRows;

/** The requirements of the contract, by ID: each statement that a server can be tested against. */
export const requirements: Readonly<Record<RequirementId, Requirement>> = requirementRows;

/** Questions that the contract leaves open, each with what the reference server does and why. */
export const openPoints: readonly OpenPoint[] = points;

/**
 * The shapes of the resources, as valibot schemas: `v.safeParse(shapes.artifact, value)`, or any
 * library that takes a Standard Schema. Source: "Resources" of the contract.
 */
export const shapes = {
  alert: resources.alertShape,
  artifact: resources.artifactShape,
  artifactLink: resources.artifactLinkShape,
  attributes: resources.attributesShape,
  auditLogs: resources.auditLogsShape,
  authRequest: resources.authRequestShape,
  deploymentInstructionsV1: resources.deploymentInstructionsV1Shape,
  deploymentInstructionsV2: resources.deploymentInstructionsV2Shape,
  deploymentLog: resources.deploymentLogShape,
  deploymentStatus: resources.deploymentStatusShape,
  deviceConfiguration: resources.deviceConfigurationShape,
  error: resources.errorShape,
  monitorConfigurations: resources.monitorConfigurationsShape,
  updateControlMap: resources.updateControlMapShape,
} satisfies Readonly<Record<string, v.GenericSchema>>;

/**
 * Returns a shape as a JSON Schema of draft 7, without rules that JSON Schema cannot express.
 * @param shape a member of `shapes`, or the shape of a body or query in an operation
 */
export function jsonSchema(shape: v.GenericSchema): object {
  return jsonSchemaOf(shape);
}
