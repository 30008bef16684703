/** The resources in the responses of operations, and their paths from the body. */
import type { OperationId } from '../../fixtures/contract/operations.ts';

/** The name of the resource's field table and the path to the resource, by operation. */
export const answeredResources: Readonly<
  Partial<Record<OperationId, readonly [resource: string, to: readonly string[]]>>
> = {
  'list-artifacts': ['Artifact', ['*']],
  'get-artifact': ['Artifact', []],
  'get-artifact-link': ['ArtifactLink', []],
  'get-next-deployment': ['DeploymentInstructions (v1)', []],
  'post-next-deployment': ['DeploymentInstructions (v1)', []],
  'post-next-deployment-v2': ['DeploymentInstructions (v2)', []],
  'get-update-control-map': ['UpdateControlMap', ['update_control_map']],
  'list-audit-logs': ['AuditLog entry', ['*']],
};
