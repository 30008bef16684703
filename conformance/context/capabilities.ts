/**
 * Capabilities that not every target has: a user who can act, parts of the API that only some plans
 * or editions include, required behaviour that some servers lack, and control that only a testbed
 * offers. A case that needs a missing capability is skipped, and its verdict names the capability.
 */
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';

interface CapabilityDefinition {
  /**
   * `means`: a way to act as a user. `part`: operations of which a target has either all or none.
   * `behaviour`: required behaviour that some servers are known to lack; it is not probed.
   * `control`: control over the target that only a testbed offers.
   */
  readonly kind: 'means' | 'part' | 'behaviour' | 'control';
  /** The part of the API that a target with this capability offers, as a phrase. */
  readonly offers: string;
  /** The operations of a part. */
  readonly operations?: readonly OperationId[];
  /** The requirements that only a target with the behaviour can meet. */
  readonly requirements?: readonly RequirementId[];
}

export const capabilities = {
  user: {
    kind: 'means',
    offers: 'a user who accepts devices and deploys to them, by the management API or hooks',
  },
  'deployments-v2': {
    kind: 'part',
    offers: 'deployments API v2: next deployment by POST',
    operations: ['post-next-deployment-v2'],
  },
  'update-control-map': {
    kind: 'part',
    offers: 'update control maps (enterprise plan)',
    operations: ['get-update-control-map'],
  },
  'artifact-listing': {
    kind: 'part',
    offers: 'artifacts that devices list, show and download by link',
    operations: ['list-artifacts', 'get-artifact', 'get-artifact-link'],
  },
  configuration: {
    kind: 'part',
    offers: 'the configuration of devices',
    operations: ['get-configuration', 'put-configuration', 'download-configuration'],
  },
  connect: {
    kind: 'part',
    offers: 'device connection by WebSocket',
    operations: ['connect'],
  },
  monitor: {
    kind: 'part',
    offers: 'alerts and monitor configurations of devices',
    operations: ['post-alerts', 'post-monitor-configuration'],
  },
  inventory: {
    kind: 'part',
    offers: 'the inventory of devices',
    operations: ['patch-attributes', 'put-attributes'],
  },
  'audit-log': {
    kind: 'part',
    offers: 'the audit log and its CSV export (commercial plans)',
    operations: ['list-audit-logs', 'export-audit-logs'],
  },
  'configuration-read-back': {
    kind: 'behaviour',
    offers: 'one configuration store: a device reads what it wrote',
    requirements: [
      // The cases of these four read back what each operation wrote, including the configuration.
      'service.equal-forms',
      'service.expect-continue',
      'service.http-1-0',
      'service.chunked-bodies',
      'configuration.written-is-read',
      'configuration.read-all',
      'configuration.any-name',
      'configuration.any-string',
      'configuration.update',
      'configuration.empty-removes',
      'configuration.refused-changes-nothing',
      'configuration.concurrent-writes',
      'configuration.own-store',
    ],
  },
  'clock-control': { kind: 'control', offers: "control of the server's clock" },
  'fault-control': { kind: 'control', offers: 'server faults on demand' },
  'rate-control': { kind: 'control', offers: 'rate limits on demand' },
  'role-control': { kind: 'control', offers: 'users with restricted roles on demand' },
  'tenant-control': {
    kind: 'control',
    offers: 'tenants that can be created and suspended on demand',
  },
} as const satisfies Readonly<Record<string, CapabilityDefinition>>;

/** The name of a capability. */
export type Capability = keyof typeof capabilities;
export const capabilityNames = Object.keys(capabilities) as Capability[];

const rows: Readonly<Record<Capability, CapabilityDefinition>> = capabilities;

/** Returns the names of one kind, in order. */
export function capabilitiesOf(kind: CapabilityDefinition['kind']): readonly Capability[] {
  return capabilityNames.filter((name) => rows[name].kind === kind);
}

/** Returns true for control over the target, which only a testbed offers and no client has. */
export function isControl(name: Capability): boolean {
  return rows[name]?.kind === 'control';
}

/** Returns the operations of a capability; none when it is not a part of the API. */
export function operationsOf(name: Capability): readonly OperationId[] {
  return rows[name].operations ?? [];
}

/** Returns the part to which an operation belongs; undefined if every target has the operation. */
export function partOf(operation: OperationId): Capability | undefined {
  return capabilityNames.find((name) => operationsOf(name).includes(operation));
}

/** Returns the behaviours without which one of the requirements cannot be met. */
export function behavioursNeededBy(ids: readonly RequirementId[]): readonly Capability[] {
  return capabilitiesOf('behaviour').filter((name) =>
    rows[name].requirements?.some((id) => ids.includes(id)),
  );
}

/**
 * Returns the parts without which a case is meaningless: the part whose statuses it covers, and the
 * parts that one of its requirements is about exclusively. A case over many operations omits those
 * that the target lacks (`TestContext.offered`).
 */
export function partsNeededBy(
  ids: readonly RequirementId[],
  covers: readonly `${OperationId} ${number}`[],
): readonly Capability[] {
  const coveredIds = covers.map((each) => each.split(' ')[0] as OperationId);
  const operationsOfRequirements = ids.map(
    (id): readonly OperationId[] => requirements[id].operations,
  );
  const parts = [coveredIds, ...operationsOfRequirements].flatMap(soleOperations).map(partOf);
  return [...new Set(parts.filter((part) => part !== undefined))];
}

/** Returns the operations if all of them belong to one part; otherwise none. */
function soleOperations(ids: readonly OperationId[]): readonly OperationId[] {
  return new Set(ids.map(partOf)).size === 1 ? ids : [];
}

/** Returns the operations of a target that offers these capabilities. */
export function operationsWith(offered: ReadonlySet<Capability>): ReadonlySet<OperationId> {
  const ids = Object.keys(operations) as OperationId[];
  return new Set(
    ids.filter((id) => {
      const part = partOf(id);
      return part === undefined || offered.has(part);
    }),
  );
}
