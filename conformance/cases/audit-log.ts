/** Cases: the audit log as a list. Spec: Audit logs; AuditLog entry */
import { type AuditLog, auditLogsShape } from '../../fixtures/contract/resources.ts';
import { defineScenario, type JudgingCase } from '../case.ts';
import {
  expectEqual,
  expectMembers,
  expectPresent,
  expectShape,
  expectStatus,
  expectThat,
  observed,
  observedAnswer,
  shown,
} from '../expectations.ts';
import type { Stage } from '../stage/stage.ts';
import {
  abortedDeployment,
  acceptedDevice,
  type OfferedDeployment,
} from '../stage/start-states.ts';
import type { CallOptions } from '../target/call.ts';
import { relationsOf } from '../target/link-header.ts';
import type { Answer } from '../target/target.ts';

type Query = NonNullable<CallOptions['query']>;

const HOUR_SECONDS = 3600;

function list(stage: Stage, query: Query = {}): Promise<Answer> {
  return stage.operator.caller.call('list-audit-logs', { query });
}

/** The entries that the query finds, once there are so many. */
async function entries(stage: Stage, query: Query, atLeast: number): Promise<readonly AuditLog[]> {
  const answer = await stage.settled(
    () => list(stage, query),
    ({ status, text }) => status !== 200 || text.split('"action"').length > atLeast,
  );
  expectStatus(answer, 200);
  return expectShape(answer, auditLogsShape);
}

/** The two entries that creating and aborting a deployment make. */
async function twoEntries(stage: Stage): Promise<OfferedDeployment> {
  const world = await abortedDeployment(stage);
  const found = await entries(stage, { object_id: world.deploymentId }, 2);
  expectThat(found.length >= 2, 'entries for create and abort', shown(found));
  return world;
}

const user = defineScenario({
  area: 'audit-log',
  name: 'The list',
  start: 'a user with a token',
  risk: 'read',
  needs: ['operator'],
  arrange: (stage) => stage,
  cases: [
    {
      id: 'list-is-200',
      title: 'The audit log is answered 200 with an array of complete entries.',
      requirements: ['audit.list', 'audit.entry-fields', 'tokens.login-opens-management'],
      covers: ['list-audit-logs 200'],
      run: async (stage) => {
        const answer = await list(stage);
        expectStatus(answer, 200);
        expectShape(answer, auditLogsShape);
      },
    },
    {
      id: 'page-sizes',
      title: 'How many entries a page has by default, and whether 500 and 501 are too many.',
      requirements: ['audit.page-sizes'],
      observe: async (stage) => {
        const byDefault = expectShape(await list(stage), auditLogsShape).length;
        const [many, more] = [
          await list(stage, { per_page: 500 }),
          await list(stage, { per_page: 501 }),
        ];
        return observed(`${byDefault} by default; 500: ${many.status}; 501: ${more.status}`);
      },
    },
    {
      id: 'page-past-the-end',
      title: 'What a page past the end of the list holds.',
      requirements: ['audit.past-the-end'],
      observe: async (stage) => observedAnswer(await list(stage, { page: 1_000_000 })),
    },
    {
      id: 'bad-parameters',
      title: 'What parameters of the wrong form are answered.',
      requirements: ['audit.bad-parameters'],
      observe: async (stage) => {
        const queries = {
          page: { page: 0 },
          sort: { sort: 'sideways' },
          type: { object_type: 'cat' },
        };
        const answers = Object.entries(queries).map(
          async ([name, query]) => `${name}: ${(await list(stage, query)).status}`,
        );
        return observed((await Promise.all(answers)).join(', '));
      },
    },
  ],
});

const rows = defineScenario({
  area: 'audit-log',
  name: 'Entries',
  start: 'a user who has created a deployment and aborted it',
  risk: 'write',
  needs: ['operator'],
  arrange: twoEntries,
  cases: [
    {
      id: 'created-deployment-is-an-entry',
      title: 'Creating a deployment is an entry with the name and the artifact name of it.',
      requirements: ['audit.deployment-created'],
      run: async ({ deploymentId, deploymentName, artifact }, stage) => {
        const found = await entries(stage, { object_id: deploymentId }, 2);
        const entry = found.find(({ action }) => action === 'create');
        const { actor, object } = expectPresent('an entry `create`', entry);
        const facts = { name: deploymentName, artifact_name: artifact.name };
        expectEqual('actor type', actor.type, 'user');
        expectMembers('deployment', object.deployment, facts);
      },
    },
    {
      id: 'aborted-deployment-is-an-entry',
      title: 'Aborting a deployment is an entry on that deployment.',
      requirements: ['audit.deployment-aborted'],
      run: async ({ deploymentId }, stage) => {
        const found = await entries(stage, { object_id: deploymentId }, 2);
        const entry = found.find(({ action }) => action === 'abort');
        expectEqual('type', expectPresent('an entry `abort`', entry).object.type, 'deployment');
      },
    },
    {
      id: 'newest-comes-first',
      title: 'Without `sort`, and with desc, entries come newest first; with asc oldest first.',
      requirements: ['audit.newest-first'],
      run: async ({ deploymentId }, stage) => {
        const actions = async (sort: Query): Promise<readonly string[]> =>
          (await entries(stage, { object_id: deploymentId, ...sort }, 2)).map(
            ({ action }) => action,
          );
        expectEqual('actions', await actions({}), ['abort', 'create']);
        expectEqual('actions with desc', await actions({ sort: 'desc' }), ['abort', 'create']);
        expectEqual('actions with asc', await actions({ sort: 'asc' }), ['create', 'abort']);
      },
    },
    {
      id: 'pages-divide-the-list',
      title: 'With one entry per page the second page holds the second entry.',
      requirements: ['audit.pages'],
      run: async ({ deploymentId }, stage) => {
        const page = async (number: number): Promise<readonly string[]> => {
          const query = { object_id: deploymentId, per_page: 1, page: number };
          return (await entries(stage, query, 1)).map(({ action }) => action);
        };
        expectEqual('actions of page 1', await page(1), ['abort']);
        expectEqual('actions of page 2', await page(2), ['create']);
      },
    },
    {
      id: 'total-is-counted',
      title: 'X-Total-Count tells how many entries matched, whatever the page.',
      requirements: ['audit.total'],
      run: async ({ deploymentId }, stage) => {
        const all = await entries(stage, { object_id: deploymentId }, 2);
        const answer = await list(stage, { object_id: deploymentId, per_page: 1 });
        expectStatus(answer, 200);
        expectEqual('X-Total-Count', answer.headers['x-total-count'], String(all.length));
      },
    },
    {
      id: 'link-names-the-pages',
      title: 'Link names the first and the next page on page one, the previous one on page two.',
      requirements: ['audit.links'],
      run: async ({ deploymentId }, stage) => {
        const relations = async (page: number): Promise<readonly string[]> => {
          const answer = await list(stage, { object_id: deploymentId, per_page: 1, page });
          return Object.keys(relationsOf(answer.headers.link));
        };
        const [one, two] = [await relations(1), await relations(2)];
        expectThat(one.includes('first') && one.includes('next'), 'first and next', shown(one));
        expectThat(two.includes('first') && two.includes('prev'), 'first and prev', shown(two));
        expectThat(!one.includes('prev'), 'no prev on page one', shown(one));
        expectThat(!two.includes('next'), 'no next on page two', shown(two));
      },
    },
    {
      id: 'time-bounds-are-kept',
      title: 'With created_after and created_before only entries within those seconds are listed.',
      requirements: ['audit.time-bounds'],
      run: async ({ deploymentId }, stage) => {
        const [newest] = await entries(stage, { object_id: deploymentId }, 2);
        const second = Math.floor(Date.parse(newest?.time ?? '') / 1000);
        const count = async (bounds: Query): Promise<number> =>
          (await entries(stage, { object_id: deploymentId, ...bounds }, 0)).length;
        const around = { created_after: second - HOUR_SECONDS, created_before: second + 1 };
        expectEqual('entries around the time', await count(around), 2);
        expectEqual(
          'entries an hour later',
          await count({ created_after: second + HOUR_SECONDS }),
          0,
        );
        expectEqual(
          'entries an hour before',
          await count({ created_before: second - HOUR_SECONDS }),
          0,
        );
      },
    },
  ],
});

interface Filter {
  readonly title: string;
  readonly requirement: 'audit.actor-filters' | 'audit.object-filters';
  /** A query that both entries of the start state fit, given one of them. */
  readonly fits: (world: OfferedDeployment, entry: AuditLog) => Query;
  readonly misses: Query;
}

const nobody = '00000000-0000-4000-8000-000000000000';

const filters: Readonly<Record<string, Filter>> = {
  'actor-id': {
    title: 'With actor_id only the entries of that actor are listed.',
    requirement: 'audit.actor-filters',
    fits: (_, entry) => ({ actor_id: entry.actor.id }),
    misses: { actor_id: nobody },
  },
  'actor-type': {
    title: 'With actor_type only the entries of users, or of devices, are listed.',
    requirement: 'audit.actor-filters',
    fits: () => ({ actor_type: 'user' }),
    misses: { actor_type: 'device' },
  },
  'actor-email': {
    title: 'With actor_email only the entries of the user with that e-mail are listed.',
    requirement: 'audit.actor-filters',
    // An entry need not tell the e-mail; then only what misses it can be judged.
    fits: (_, { actor: { email } }) => (email === undefined ? {} : { actor_email: email }),
    misses: { actor_email: 'nobody@example.com' },
  },
  'object-id': {
    title: 'With object_id only the entries on that object are listed.',
    requirement: 'audit.object-filters',
    fits: ({ deploymentId }) => ({ object_id: deploymentId }),
    misses: { object_id: nobody },
  },
  'object-type': {
    title: 'With object_type only entries on objects of that type are listed.',
    requirement: 'audit.object-filters',
    fits: () => ({ object_type: 'deployment' }),
    misses: { object_type: 'artifact' },
  },
  'object-deployment-name': {
    title: 'With object_deployment_name only entries on deployments of that name are listed.',
    requirement: 'audit.object-filters',
    fits: ({ deploymentName }) => ({ object_deployment_name: deploymentName }),
    misses: { object_deployment_name: 'no deployment of this name' },
  },
};

function filterCase([name, filter]: [string, Filter]): JudgingCase<OfferedDeployment> {
  return {
    id: `${name}-filters`,
    title: filter.title,
    requirements: [filter.requirement],
    run: async (world, stage) => {
      const query = { object_id: world.deploymentId };
      const [entry] = await entries(stage, query, 2);
      const fits = filter.fits(world, expectPresent('an entry', entry));
      expectEqual('entries that fit', (await entries(stage, { ...query, ...fits }, 2)).length, 2);
      const others = await entries(stage, { ...query, ...filter.misses }, 0);
      expectEqual('entries that do not', others.length, 0);
    },
  };
}

const filtered = defineScenario({
  area: 'audit-log',
  name: 'Filters',
  start: 'a user who has created a deployment and aborted it',
  risk: 'write',
  needs: ['operator'],
  arrange: twoEntries,
  cases: Object.entries(filters).map(filterCase),
});

const devices = defineScenario({
  area: 'audit-log',
  name: 'Devices',
  start: 'an accepted device',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'rejected-device-is-an-entry',
      title: 'Rejecting a device is an entry with the identity data of the device.',
      requirements: ['audit.device-rejected'],
      run: async (device, stage) => {
        await stage.operator.decide(device.id, device.key, 'rejected');
        const query = { object_id: device.id, object_type: 'device' };
        const found = await entries(stage, query, 1);
        const entry = found.find(({ action }) => action === 'reject');
        const { object } = expectPresent('an entry `reject`', entry);
        const identityData = object.device?.identity_data ?? '';
        const { serial = '' } = device.identity;
        expectThat(identityData.includes(serial), `the serial ${serial}`, shown(identityData));
      },
    },
    {
      id: 'decommissioned-device-is-an-entry',
      title: 'Decommissioning a device is an entry on that device.',
      requirements: ['audit.device-decommissioned'],
      run: async (device, stage) => {
        await stage.operator.decommission(device.id);
        const query = { object_id: device.id, object_type: 'device' };
        const found = await entries(stage, query, 1);
        const entry = found.find(({ action }) => action === 'decommission');
        expectEqual('type', expectPresent('an entry `decommission`', entry).object.type, 'device');
      },
    },
    {
      id: 'acts-of-devices',
      title: 'Which entries have the device itself as their actor.',
      requirements: ['audit.device-actors'],
      observe: async (device, stage) => {
        const query = { object_id: device.id, actor_type: 'device' };
        const found = expectShape(await list(stage, query), auditLogsShape);
        return observed(`actions by the device: ${shown(found.map(({ action }) => action))}`);
      },
    },
  ],
});

/** Spec: Audit logs; AuditLog entry */
export const auditLogCases = [...user, ...rows, ...filtered, ...devices];
