/**
 * Cases: actions in every state of their object, each of them one entry; refused repetitions add no
 * entry. Spec: AuditLog entry; Audit logs
 */
import {
  type ManagementId,
  managementOperations,
} from '../../../fixtures/contract/management/index.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { report } from '../../context/deployment-life.ts';
import { ownArtifact } from '../../context/own-artifact.ts';
import { authorizationOf } from '../../context/short-lived-token.ts';
import {
  acceptedDevice,
  factoryProvides,
  instructedId,
  pendingDevice,
  preauthorizedDevice,
  requireOffer,
  requireResponse,
  StartStateNotReached,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { type CallOptions, requestOf } from '../../target/call.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  NotObservable,
} from '../../target/expectations.ts';
import { actions, ENTRY_WAIT_MAX_MS, entries, list, listIn, textAt } from './audit-reading.ts';

/** An action that a user has performed, or that the target has refused. */
interface PerformedAction {
  /** The action and the state of its object, as a phrase. */
  readonly what: string;
  readonly action: string;
  readonly objectId: string;
  /** The requirement that the action has an entry; undefined for a refused action. */
  readonly requirement?: RequirementId;
  /** True if the target performed the action again instead of refusing the repetition. */
  readonly mayBeTwice: boolean;
}

type AnyCall = CallOptions & { readonly path?: Readonly<Record<string, string>> };

/** Sends a request of the management API that a target should refuse; returns whether it did. */
async function isRefused(context: TestContext, id: ManagementId, call: AnyCall): Promise<boolean> {
  const headers = authorizationOf(context.admin);
  const callOptions = { ...call, headers } as never;
  const response = await context.client.send(
    requestOf<string>(managementOperations[id], callOptions),
  );
  return response.status >= 400;
}

/** Asserts that each action is one entry on its object, and each refused one is none. */
async function expectRecorded(
  context: TestContext,
  performedActions: readonly PerformedAction[],
): Promise<void> {
  for (const { what, action, objectId, requirement, mayBeTwice } of performedActions) {
    const least = requirement === undefined ? 0 : 1;
    const loggedActions = await context.eventually(
      async () => {
        const objectEntries = await entries(context, { object_id: objectId, per_page: 100 });
        return objectEntries.map((entry) => textAt(entry, 'action') ?? '');
      },
      (read) => read.filter((each) => each === action).length >= least,
      ENTRY_WAIT_MAX_MS,
    );
    const matchingActions = loggedActions.filter((each) => each === action);
    // Another case checks the names of actions.
    if (matchingActions.length < least && loggedActions.some((each) => !actions.includes(each))) {
      throw new StartStateNotReached('actions of the contract', describeValue(loggedActions));
    }
    if (matchingActions.length === least || (matchingActions.length > least && mayBeTwice))
      continue;
    const missed =
      matchingActions.length < least && requirement ? requirement : 'audit.one-entry-per-action';
    const expected = `${least} entries \`${action}\` after ${what}`;
    throw new ExpectationFailure(expected, `${matchingActions.length} entries`, [missed]);
  }
}

const deviceStates = {
  'a pending device': pendingDevice,
  'a pre-authorized device': preauthorizedDevice,
  'an accepted device': acceptedDevice,
} satisfies Readonly<Record<string, (context: TestContext) => Promise<SuiteDevice>>>;

/** Rejects a pending device, and decommissions a device of each state twice. */
async function performOnDevices(context: TestContext): Promise<readonly PerformedAction[]> {
  const actions: PerformedAction[] = [];
  for (const [state, arrange] of Object.entries(deviceStates)) {
    const { id: objectId } = await arrange(context);
    await context.admin.decommission(objectId);
    const isRefusedAgain = await isRefused(context, 'decommission-device', {
      path: { id: objectId },
    });
    actions.push({
      what: `the decommissioning of ${state}`,
      action: 'decommission',
      objectId,
      requirement: 'audit.device-decommissioned',
      mayBeTwice: !isRefusedAgain,
    });
  }
  const { id: objectId, key } = await pendingDevice(context);
  await context.admin.decide(objectId, key, 'rejected');
  const requirement = 'audit.device-rejected';
  const what = 'the rejection of a pending device';
  return [...actions, { what, action: 'reject', objectId, requirement, mayBeTwice: false }];
}

/** A deployment: the devices in it, and what becomes of it before a user aborts it. */
interface DeploymentRow {
  readonly what: string;
  readonly size: number;
  readonly statuses: readonly string[];
}

const deploymentRows: readonly DeploymentRow[] = [
  { what: 'a deployment that no device has asked for', size: 1, statuses: [] },
  { what: 'a deployment of three devices', size: 3, statuses: ['', 'downloading'] },
  { what: 'a deployment that has succeeded', size: 1, statuses: ['success'] },
];

/** Asks for the deployment as the device, and reports the status unless it is empty. */
async function follow(context: TestContext, device: SuiteDevice, status: string): Promise<void> {
  const offer = await requireOffer(context, 'get-next-deployment', () =>
    device.call('get-next-deployment', { query: factoryProvides }),
  );
  if (status === '') return;
  const reportResponse = await report({ device, id: instructedId(offer) }, { status });
  requireResponse('put-deployment-status', reportResponse, 204);
}

/** Creates the deployment of a row, and aborts it twice. */
async function performOnDeployment(
  context: TestContext,
  all: readonly SuiteDevice[],
  { what, size, statuses }: DeploymentRow,
): Promise<readonly PerformedAction[]> {
  const { name } = await context.artifact('plain');
  const devices = all.slice(0, size);
  const spec = { artifact_name: name, devices: devices.map(({ id }) => id) };
  const { id: objectId } = await context.deploy(spec);
  for (const [index, status] of statuses.entries()) {
    const device = devices[index];
    if (device) await follow(context, device, status);
  }
  const call = { path: { id: objectId }, body: { status: 'aborted' } };
  const isFirstRefused = await isRefused(context, 'abort-deployment', call);
  const isRefusedAgain = await isRefused(context, 'abort-deployment', call);
  const isOver = statuses.includes('success');
  return [
    {
      what: `the creation of ${what}`,
      action: 'create',
      objectId,
      requirement: 'audit.deployment-created',
      mayBeTwice: false,
    },
    {
      what: `${isFirstRefused ? 'the refused abort' : 'the abort'} of ${what}`,
      action: 'abort',
      objectId,
      // Whether a server records an abort that it accepts but that changes nothing is left open.
      ...(isFirstRefused || isOver ? {} : { requirement: 'audit.deployment-aborted' }),
      mayBeTwice: !isRefusedAgain || (isOver && !isFirstRefused),
    },
  ];
}

/** Asserts that a refused creation, of an unknown release, adds no entry. */
async function expectNoCreation(context: TestContext, device: SuiteDevice): Promise<void> {
  const name = context.newName();
  const body = { name, artifact_name: context.newName(), devices: [device.id] };
  if (!(await isRefused(context, 'create-deployment', { body }))) return;
  const deploymentEntries = await entries(context, { object_deployment_name: name });
  expectEqual('entries after a refused creation', deploymentEntries.length, 0);
}

/** Asserts that deploying a configuration is recorded, on the deployment or on the device. */
async function expectConfigurationDeployed(
  context: TestContext,
  device: SuiteDevice,
): Promise<void> {
  if (Object.keys(context.offered({ 'put-configuration': true })).length === 0) return;
  await context.admin.configure(device.id, { colour: 'red' });
  const before = await entries(context, { object_id: device.id, per_page: 100 });
  const id = await context.deployConfiguration(device);
  const loggedEntries = await context.eventually(
    async () => {
      if ((await entries(context, { object_id: id })).length > 0) return true;
      const after = await entries(context, { object_id: device.id, per_page: 100 });
      return after.length > before.length;
    },
    (isThere) => isThere,
    ENTRY_WAIT_MAX_MS,
  );
  if (loggedEntries) return;
  const expected = 'an entry on the configuration deployment, or on its device';
  throw new ExpectationFailure(expected, 'none', ['audit.one-entry-per-action']);
}

/** Edits an artifact, deletes it while a deployment uses it, and twice after the abort. */
async function performOnArtifact(context: TestContext): Promise<readonly PerformedAction[]> {
  const name = context.newName();
  const { id: objectId } = await ownArtifact(context, { name, content: Buffer.from('one') });
  await context.admin.describeArtifact(objectId, 'described once');
  const device = await acceptedDevice(context);
  const { id: used } = await context.deploy({ artifact_name: name, devices: [device.id] });
  const call = { path: { id: objectId } };
  const isRefusedWhileUsed = await isRefused(context, 'delete-artifact', call);
  await context.admin.abort(used);
  await context.admin.deleteArtifact(objectId);
  const isRefusedAgain = await isRefused(context, 'delete-artifact', call);
  const requirement = 'audit.artifact-changed';
  const onIt = { objectId, requirement } as const;
  return [
    {
      ...onIt,
      what: 'the deletion of an artifact',
      action: 'delete',
      mayBeTwice: !isRefusedWhileUsed || !isRefusedAgain,
    },
    // The upload may be an `update` too.
    { ...onIt, what: 'the edit of an artifact', action: 'update', mayBeTwice: true },
  ];
}

/** Throws NotObservable if the log has no entries on artifacts at all. */
async function requireArtifactEntries(context: TestContext): Promise<void> {
  const deploymentEntries = await context.eventually(
    async () => listIn(await list(context, { object_type: 'artifact', per_page: 1 })) ?? [],
    ({ length }) => length > 0,
    ENTRY_WAIT_MAX_MS,
  );
  if (deploymentEntries.length === 0)
    throw new NotObservable('the log has no entries on artifacts');
}

/** Spec: AuditLog entry; Audit logs */
export const auditActionStateCases = defineScenario<TestContext>({
  area: 'audit-log',
  name: 'Actions in every state',
  start: 'a user',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => context,
  cases: [
    {
      id: 'acts-on-devices-of-every-state',
      title:
        'A rejection or decommissioning is one entry in each state of the device; a refused one is none.',
      requirements: [
        'audit.device-rejected',
        'audit.device-decommissioned',
        'audit.one-entry-per-action',
      ],
      run: async (context) => expectRecorded(context, await performOnDevices(context)),
    },
    {
      id: 'acts-on-deployments-of-every-state',
      title:
        'A creation or abort is one entry in each state and size of the deployment; a refused one is none.',
      requirements: [
        'audit.deployment-created',
        'audit.deployment-aborted',
        'audit.one-entry-per-action',
      ],
      run: async (context) => {
        const devices = [];
        for (let count = 0; count < 3; count += 1) devices.push(await acceptedDevice(context));
        const actions = [];
        for (const row of deploymentRows) {
          actions.push(...(await performOnDeployment(context, devices, row)));
        }
        await expectRecorded(context, actions);
      },
    },
    {
      id: 'other-creations-of-deployments',
      title:
        'Deploying a configuration is recorded, and the refused creation of a deployment is not.',
      requirements: ['audit.one-entry-per-action'],
      run: async (context) => {
        const device = await acceptedDevice(context);
        await expectNoCreation(context, device);
        await expectConfigurationDeployed(context, device);
      },
    },
    {
      id: 'acts-on-artifacts',
      title:
        'The edit and the deletion of an artifact are one entry each; a refused deletion is none.',
      requirements: ['audit.artifact-changed', 'audit.one-entry-per-action'],
      run: async (context) => {
        const actions = await performOnArtifact(context);
        await requireArtifactEntries(context);
        await expectRecorded(context, actions);
      },
    },
  ],
});
