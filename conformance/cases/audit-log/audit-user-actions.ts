/** Cases: the audit log has the actions of a user. Spec: AuditLog entry; Audit logs */
import { withdrawnDeployment } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  describeValue,
  expectEqual,
  expectPresent,
  expectThat,
  NotObservable,
} from '../../target/expectations.ts';
import { ENTRY_WAIT_MAX_MS, entries, list, type ReceivedEntry, textAt } from './audit-reading.ts';

/** Tolerated difference between the clocks of the servers behind one address. */
const CLOCKS_APART_MS = 60_000;

/** One action of the suite's user. */
interface UserAction {
  readonly action: string;
  readonly objectId: string;
  readonly objectType: 'deployment' | 'device';
}

/** The actions of the user, oldest first, and their start and end by the target's clock. */
interface PerformedActions {
  readonly actions: readonly UserAction[];
  readonly startedMs: number;
  readonly endedMs: number;
}

async function nowMs(context: TestContext): Promise<number> {
  return context.serverNowMs(await list(context, { per_page: 1 }));
}

/** Performs once each action that the contract names. */
async function performEveryAction(context: TestContext): Promise<PerformedActions> {
  const startedMs = await nowMs(context);
  const { device, deploymentId } = await withdrawnDeployment(context);
  await context.admin.decide(device.id, device.key, 'rejected');
  await context.admin.decommission(device.id);
  const onDeployment = { objectId: deploymentId, objectType: 'deployment' } as const;
  const onDevice = { objectId: device.id, objectType: 'device' } as const;
  return {
    actions: [
      { action: 'create', ...onDeployment },
      { action: 'abort', ...onDeployment },
      { action: 'reject', ...onDevice },
      { action: 'decommission', ...onDevice },
    ],
    startedMs,
    endedMs: await nowMs(context),
  };
}

/** Returns the entries of one action, and waits for the first, which may be written late. */
function entriesOf(
  context: TestContext,
  { action, objectId }: UserAction,
): Promise<readonly ReceivedEntry[]> {
  return context.eventually(
    async () => {
      const objectEntries = await entries(context, { object_id: objectId, per_page: 100 });
      return objectEntries.filter((entry) => textAt(entry, 'action') === action);
    },
    ({ length }) => length > 0,
    ENTRY_WAIT_MAX_MS,
  );
}

/** Returns the first entry of an action; throws NotObservable if there is none. */
async function entryOf(context: TestContext, userAction: UserAction): Promise<ReceivedEntry> {
  const [entry] = await entriesOf(context, userAction);
  if (entry) return entry;
  throw new NotObservable(
    `the log has no entry \`${userAction.action}\` on ${userAction.objectId}`,
  );
}

/** Spec: AuditLog entry; Audit logs */
export const auditUserActionCases = defineScenario<PerformedActions>({
  area: 'audit-log',
  name: 'Actions of a user',
  start:
    'a user who has created and aborted a deployment and rejected and decommissioned its device',
  effect: 'write',
  needs: ['user'],
  arrange: performEveryAction,
  cases: [
    {
      id: 'each-act-is-recorded-once',
      title: 'Each action of the user is one entry, which appears within seconds and only once.',
      requirements: ['audit.one-entry-per-action'],
      run: async ({ actions }, context) => {
        for (const userAction of actions) await entryOf(context, userAction);
        for (const userAction of actions) {
          const { length } = await entriesOf(context, userAction);
          expectEqual(`entries \`${userAction.action}\` on ${userAction.objectId}`, length, 1);
        }
      },
    },
    {
      id: 'entries-name-the-object',
      title: 'The entry of each action names its object by ID and type.',
      requirements: ['audit.object-id', 'audit.object-type'],
      run: async ({ actions }, context) => {
        for (const userAction of actions) {
          const entry = await entryOf(context, userAction);
          const object = { id: textAt(entry, 'object.id'), type: textAt(entry, 'object.type') };
          const expected = { id: userAction.objectId, type: userAction.objectType };
          expectEqual(`object of \`${userAction.action}\``, object, expected);
        }
      },
    },
    {
      id: 'acts-of-one-user-have-one-actor',
      title: 'All actions of one user have one actor: a user, with the same ID in each entry.',
      requirements: ['audit.actor-id', 'audit.actor-type'],
      run: async ({ actions }, context) => {
        const ids = new Set<string>();
        for (const userAction of actions) {
          const entry = await entryOf(context, userAction);
          expectEqual(
            `actor.type of \`${userAction.action}\``,
            textAt(entry, 'actor.type'),
            'user',
          );
          ids.add(expectPresent(`actor.id of \`${userAction.action}\``, textAt(entry, 'actor.id')));
        }
        expectThat(ids.size === 1, 'one actor', describeValue([...ids]));
      },
    },
    {
      id: 'entries-tell-the-time-of-the-act',
      title:
        'The time of each entry is the time of the action, by the clock that the target shows.',
      requirements: ['audit.time-of-the-act'],
      run: async ({ actions, startedMs, endedMs }, context) => {
        for (const userAction of actions) {
          const time = textAt(await entryOf(context, userAction), 'time') ?? 'none';
          const ms = Date.parse(time);
          const isThen = ms > startedMs - CLOCKS_APART_MS && ms < endedMs + CLOCKS_APART_MS;
          const span = [startedMs, endedMs].map((each) => new Date(each).toISOString());
          expectThat(isThen, `a time of about ${span.join(' to ')}`, time);
        }
      },
    },
    {
      id: 'entries-stand-in-the-order-of-the-acts',
      title: 'An action that follows another has no earlier time.',
      requirements: ['audit.time-of-the-act'],
      run: async ({ actions }, context) => {
        let previousSeconds = Number.NEGATIVE_INFINITY;
        for (const userAction of actions) {
          const time = textAt(await entryOf(context, userAction), 'time') ?? 'none';
          // One second is tolerated: some servers round times, or write entries asynchronously.
          const seconds = Math.floor(Date.parse(time) / 1000);
          const actual = `\`${userAction.action}\` at ${time}, before the action that it followed`;
          expectThat(seconds >= previousSeconds - 1, 'times in the order of the actions', actual);
          previousSeconds = seconds;
        }
      },
    },
  ],
});
