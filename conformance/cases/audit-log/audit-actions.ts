/** Cases: which actions on deployments and devices the audit log records. Spec: AuditLog entry */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import {
  abortedDeployment,
  acceptedDevice,
  StartStateNotReached,
} from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import { describeValue, expectThat } from '../../target/expectations.ts';
import {
  actions,
  ENTRY_WAIT_MAX_MS,
  entries,
  isEntry,
  list,
  listIn,
  textAt,
} from './audit-reading.ts';

/**
 * Returns the actions on one object once `action` is among them; otherwise throws
 * StartStateNotReached.
 */
async function actionsOn(
  context: TestContext,
  id: string,
  action: string,
): Promise<readonly string[]> {
  const loggedEntries = await context.eventually(
    () => entries(context, { object_id: id }),
    (read) => read.some((entry) => textAt(entry, 'action') === action),
    ENTRY_WAIT_MAX_MS,
  );
  for (const entry of loggedEntries) {
    const isOwn = [id, undefined].includes(textAt(entry, 'object.id'));
    if (isOwn && actions.includes(textAt(entry, 'action') ?? '')) continue;
    throw new StartStateNotReached(
      `entries on ${id} with an action`,
      `got ${describeValue(entry)}`,
    );
  }
  return loggedEntries.map((entry) => textAt(entry, 'action') ?? '');
}

interface ActionRow {
  readonly action: string;
  readonly requirements: readonly [RequirementId, ...RequirementId[]];
  readonly title: string;
}

function actionCase({ action, requirements, title }: ActionRow): JudgingCase<string> {
  return {
    id: `act-is-recorded-as-${action}`,
    title,
    requirements,
    run: async (id, context) => {
      const loggedActions = await actionsOn(context, id, action);
      expectThat(
        loggedActions.includes(action),
        `an entry \`${action}\``,
        describeValue(loggedActions),
      );
    },
  };
}

async function removedDevice(context: TestContext): Promise<string> {
  const { id, key } = await acceptedDevice(context);
  await context.admin.decide(id, key, 'rejected');
  await context.admin.decommission(id);
  return id;
}

const deploymentActions = defineScenario({
  area: 'audit-log',
  name: 'Actions on a deployment',
  start: 'a user who has created a deployment and aborted it',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => (await abortedDeployment(context)).deploymentId,
  cases: [
    {
      id: 'elements-are-entries',
      title: 'Each element of the list is a JSON object.',
      requirements: ['audit.entry-fields'],
      run: async (deploymentId, context) => {
        const elements = listIn(await list(context, { object_id: deploymentId }));
        if (!elements?.length)
          throw new StartStateNotReached('a list with entries', 'it is not one');
        const nonEntry = elements.find((element) => !isEntry(element));
        expectThat(nonEntry === undefined, 'an object', describeValue(nonEntry));
      },
    },
    actionCase({
      action: 'create',
      requirements: ['audit.deployment-created'],
      title: 'Creating a deployment adds an entry `create` on it.',
    }),
    actionCase({
      action: 'abort',
      requirements: ['audit.deployment-aborted'],
      title: 'Aborting a deployment adds an entry `abort` on it.',
    }),
  ],
});

const deviceActions = defineScenario({
  area: 'audit-log',
  name: 'Actions on a device',
  start: 'a device that a user has accepted, rejected and decommissioned',
  effect: 'write',
  needs: ['user'],
  arrange: removedDevice,
  cases: [
    actionCase({
      action: 'reject',
      requirements: ['audit.device-rejected', 'audit.recorded-actions'],
      title: 'Rejecting a device adds an entry `reject` on it.',
    }),
    actionCase({
      action: 'decommission',
      requirements: ['audit.device-decommissioned', 'audit.recorded-actions'],
      title: 'Decommissioning a device adds an entry `decommission` on it.',
    }),
  ],
});

export const auditActionCases = [...deploymentActions, ...deviceActions];
