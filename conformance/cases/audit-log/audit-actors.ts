/**
 * Cases: entries name the user who acted, and stay as they are when actor and object are removed.
 * Spec: AuditLog entry; Audit logs
 */
import { ownArtifact } from '../../context/own-artifact.ts';
import { adminWithToken, type SecondUser, secondUser } from '../../context/second-user.ts';
import { createShortLivedToken } from '../../context/short-lived-token.ts';
import { acceptedDevice, StartStateNotReached } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { describeValue, ExpectationFailure, expectEqual } from '../../target/expectations.ts';
import {
  ENTRY_WAIT_MAX_MS,
  entries,
  isSameEntry,
  type ReceivedEntry,
  textAt,
} from './audit-reading.ts';
import {
  expectShownValuesSelect,
  ofEachKind,
  shownValueRequirements,
} from './audit-shown-values.ts';

/** Longer than any run. */
const LIFETIME_SECONDS = 86_400;

/** Who acted: each with its own login or token. */
type Who = 'first user' | 'second user' | 'token of the first user';

/** An action of one of them, with its entry. */
interface EntryOfAction {
  readonly who: Who;
  readonly action: string;
  readonly entry: ReceivedEntry;
  /** The artifact name of the deployment that was acted on. */
  readonly release?: string;
}

/** The actions of two users of a tenant. */
interface TwoUsers {
  readonly createdUser: SecondUser;
  readonly found: readonly EntryOfAction[];
}

type UserAction = Omit<EntryOfAction, 'entry'> & { readonly objectId: string };

/** Lets both users and the token act in turn on two deployments of one name, and other objects. */
async function performActions(
  context: TestContext,
  createdUser: SecondUser,
): Promise<readonly UserAction[]> {
  const admins = {
    'first user': context.admin,
    'second user': await createdUser.logIn(),
    'token of the first user': adminWithToken(
      context,
      await createShortLivedToken(context, LIFETIME_SECONDS),
    ),
  };
  const device = await acceptedDevice(context);
  const name = context.newName();
  const actions: UserAction[] = [];
  const releases = [await context.artifact('plain'), await context.artifact('dependent')];
  const turns = [
    ['second user', 'first user'],
    ['token of the first user', 'token of the first user'],
  ] as const;
  for (const [index, [creator, aborter]] of turns.entries()) {
    const release = releases[index]?.name ?? '';
    const spec = { name, artifact_name: release, devices: [device.id] };
    const objectId = await admins[creator].deploy(spec);
    await admins[aborter].abort(objectId);
    actions.push({ who: creator, action: 'create', objectId, release });
    actions.push({ who: aborter, action: 'abort', objectId, release });
  }
  await admins['second user'].decide(device.id, device.key, 'rejected');
  await admins['token of the first user'].decommission(device.id);
  actions.push({ who: 'second user', action: 'reject', objectId: device.id });
  actions.push({ who: 'token of the first user', action: 'decommission', objectId: device.id });
  return actions;
}

async function twoUsers(context: TestContext): Promise<TwoUsers> {
  const createdUser = await secondUser(context);
  const actions = await performActions(context, createdUser);
  const all = await context.eventually(
    () => entries(context, { per_page: 100 }),
    (read) => actions.every((userAction) => entryOf(userAction, read) !== undefined),
    ENTRY_WAIT_MAX_MS,
  );
  const entriesOfActions = actions.map(({ objectId, ...userAction }) => {
    const entry = entryOf({ ...userAction, objectId }, all);
    if (entry) return { ...userAction, entry };
    throw new StartStateNotReached(`an entry \`${userAction.action}\``, 'there is none');
  });
  return { createdUser, found: entriesOfActions };
}

function isOn(entry: ReceivedEntry, objectId: string | undefined): boolean {
  return textAt(entry, 'object.id') === objectId;
}

function entryOf({ action, objectId }: UserAction, read: readonly ReceivedEntry[]) {
  return read.find((entry) => textAt(entry, 'action') === action && isOn(entry, objectId));
}

/**
 * Returns the entries after the second user was removed. If one of them had the email address of
 * that user before, waits until one has it, since a server may omit the address now and then.
 */
async function afterRemoval(
  context: TestContext,
  { email }: SecondUser,
  entriesOfActions: readonly EntryOfAction[],
): Promise<readonly ReceivedEntry[]> {
  const hasIt = (entry: ReceivedEntry): boolean => textAt(entry, 'actor.email') === email;
  const wasShown = entriesOfActions.some(({ entry }) => hasIt(entry));
  const listedEntries = await context.eventually(
    () => entries(context, { per_page: 100 }),
    (read) => !wasShown || read.some(hasIt),
    ENTRY_WAIT_MAX_MS,
  );
  if (!wasShown || listedEntries.some(hasIt)) return listedEntries;
  throw new ExpectationFailure(`entries by ${email}`, 'none', ['audit.entries-last']);
}

/** Returns the actor's ID in the entries of one user; asserts that it is the same in all. */
function actorIn(entriesOfActions: readonly EntryOfAction[], ofSecond: boolean): string {
  const actionsOfUser = entriesOfActions.filter(({ who }) => (who === 'second user') === ofSecond);
  const ids = actionsOfUser.map(({ entry }) => textAt(entry, 'actor.id'));
  const [id = ''] = ids;
  if (ids.every((each) => each === id)) return id;
  const actual = actionsOfUser.map(
    ({ who, action }, index) => `${action} by the ${who}: ${ids[index]}`,
  );
  throw new ExpectationFailure('one actor', actual.join(', '), ['audit.actor-id']);
}

/** Spec: AuditLog entry; Audit logs */
export const auditActorCases = defineScenario<TwoUsers>({
  area: 'audit-log',
  name: 'Actions of two users',
  start: 'a tenant in which two users and a personal access token of the first have acted in turn',
  effect: 'write',
  needs: ['user', 'tenant-control'],
  arrange: twoUsers,
  cases: [
    {
      id: 'entries-name-who-acted',
      title: 'Each entry names the user who acted, by login or by personal access token.',
      requirements: ['audit.actor-id', 'audit.actor-email', 'audit.actor-filters'],
      run: async ({ createdUser, found }, context) => {
        const ids = [actorIn(found, false), actorIn(found, true)];
        if (ids[0] === ids[1]) {
          throw new ExpectationFailure('two actors', describeValue(ids), ['audit.actor-id']);
        }
        for (const { who, action, entry } of found) {
          const email = textAt(entry, 'actor.email');
          const isSecond = email === undefined ? undefined : email === createdUser.email;
          if (isSecond === undefined || isSecond === (who === 'second user')) continue;
          const actual = `${email} in \`${action}\` by the ${who}`;
          throw new ExpectationFailure('the address of the actor', actual, ['audit.actor-email']);
        }
        const entriesOfActor = await entries(context, { actor_id: ids[1] ?? '', per_page: 100 });
        const actions = found.filter(({ who }) => who === 'second user').map(({ entry }) => entry);
        const actionsOfActor = actions.filter((userAction) =>
          entriesOfActor.some((each) => isSameEntry(each, userAction)),
        );
        expectEqual('entries selected by actor_id', actionsOfActor.length, actions.length);
      },
    },
    {
      id: 'entries-tell-the-release-of-their-deployment',
      title: 'Of two deployments with one name, each entry has the artifact name of its own.',
      requirements: ['audit.object-deployment-artifact-name'],
      run: async ({ found }) => {
        for (const { action, release, entry } of found) {
          if (release === undefined) continue;
          const artifactName = textAt(entry, 'object.deployment.artifact_name');
          expectEqual(`artifact_name of \`${action}\``, artifactName, release);
        }
      },
    },
    {
      id: 'entries-outlive-actor-and-object',
      title: 'After its user and its objects are removed, an entry is listed with the same fields.',
      requirements: ['audit.entries-last', ...shownValueRequirements],
      run: async ({ createdUser, found }, context) => {
        const artifact = await ownArtifact(context, { content: Buffer.from('for a while') });
        await context.admin.deleteArtifact(artifact.id);
        await createdUser.remove();
        const remainingEntries = await afterRemoval(context, createdUser, found);
        for (const { entry } of found) {
          if (remainingEntries.some((each) => isSameEntry(each, entry))) continue;
          const expected = `the entry ${describeValue(entry)}`;
          const actual = describeValue(
            remainingEntries.filter((each) => isOn(each, textAt(entry, 'object.id'))),
          );
          throw new ExpectationFailure(expected, actual, ['audit.entries-last']);
        }
        await expectShownValuesSelect(context, ofEachKind(remainingEntries));
      },
    },
  ],
});
