/** Cases: an entry of the audit log, field by field. Spec: AuditLog entry */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import {
  acceptedDevice,
  StartStateNotReached,
  withdrawnDeployment,
} from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectThat,
  observationOf,
} from '../../target/expectations.ts';
import {
  actions,
  at,
  entries,
  entriesOn,
  isEntry,
  list,
  type ReceivedEntry,
  textAt,
} from './audit-reading.ts';

const DAY_MS = 86_400_000;

/** RFC 3339, the format of the contract's date-times. */
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** The entries of a start state, and the known facts about their object. */
interface EntriesWithFacts {
  readonly entries: readonly ReceivedEntry[];
  readonly facts: Readonly<Record<string, string>>;
}

interface EntryField {
  readonly requirement: RequirementId;
  readonly path: string;
  /** The expected value, as a phrase. */
  readonly expected: string;
  readonly isValid: (
    value: unknown,
    entriesWithFacts: EntriesWithFacts,
    context: TestContext,
  ) => boolean;
  /** Present if a server may omit the field. */
  readonly isOptional?: true;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isFilledText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** Accepts the value of the fact of that name. */
function equalsFact(fact: string): EntryField['isValid'] {
  return (value, { facts }) => value === facts[fact];
}

function oneOf(...expected: readonly string[]): EntryField['isValid'] {
  return (value) => expected.some((word) => word === value);
}

/** Accepts a time within a day of now, by the target's clock. */
function isRecent(value: unknown, { facts }: EntriesWithFacts): boolean {
  if (typeof value !== 'string' || !dateTime.test(value)) return false;
  return Math.abs(Date.parse(value) - Number(facts.nowMs)) < DAY_MS;
}

const deploymentFields: readonly EntryField[] = [
  { requirement: 'audit.actor', path: 'actor', expected: 'an object', isValid: isEntry },
  { requirement: 'audit.actor-id', path: 'actor.id', expected: 'a string', isValid: isFilledText },
  {
    requirement: 'audit.actor-type',
    path: 'actor.type',
    expected: '`user` or `device`',
    isValid: oneOf('user', 'device'),
  },
  {
    requirement: 'audit.actor-email',
    path: 'actor.email',
    expected: 'an email address',
    isValid: (value) => typeof value === 'string' && /^[^\s@]+@[^\s@]+$/.test(value),
    isOptional: true,
  },
  {
    requirement: 'audit.actor-identity-data',
    path: 'actor.identity_data',
    expected: 'a string',
    isValid: isText,
    isOptional: true,
  },
  {
    requirement: 'audit.time',
    path: 'time',
    expected: 'the date-time of the action',
    isValid: isRecent,
  },
  {
    requirement: 'audit.action',
    path: 'action',
    expected: 'one of the six actions',
    isValid: oneOf(...actions),
  },
  { requirement: 'audit.object', path: 'object', expected: 'an object', isValid: isEntry },
  {
    requirement: 'audit.object-id',
    path: 'object.id',
    expected: 'a string',
    isValid: isFilledText,
  },
  {
    requirement: 'audit.object-type',
    path: 'object.type',
    expected: '`deployment`',
    isValid: oneOf('deployment'),
  },
  {
    requirement: 'audit.object-deployment-name',
    path: 'object.deployment.name',
    expected: 'the name of the deployment',
    isValid: equalsFact('name'),
  },
  {
    requirement: 'audit.object-deployment-artifact-name',
    path: 'object.deployment.artifact_name',
    expected: 'the artifact name of the deployment',
    isValid: equalsFact('artifactName'),
  },
  {
    requirement: 'audit.change',
    path: 'change',
    expected: 'a string',
    isValid: isText,
    isOptional: true,
  },
];

const deviceFields: readonly EntryField[] = [
  {
    requirement: 'audit.object-device-id',
    path: 'object.device.id',
    expected: 'the ID of the device',
    isValid: equalsFact('id'),
    isOptional: true,
  },
  {
    requirement: 'audit.object-device-identity-data',
    path: 'object.device.identity_data',
    expected: 'a string with the identity of the device',
    isValid: (value, { facts }) =>
      typeof value === 'string' && value.includes(facts.serial ?? 'no serial'),
  },
];

const userFields: readonly EntryField[] = [
  {
    requirement: 'audit.object-user-email',
    path: 'object.user.email',
    expected: 'an email address',
    isValid: (value) => typeof value === 'string' && value.includes('@'),
  },
];

const tenantFields: readonly EntryField[] = [
  {
    requirement: 'audit.object-tenant-id',
    path: 'object.tenant.id',
    expected: 'a string',
    isValid: isFilledText,
  },
  {
    requirement: 'audit.object-tenant-name',
    path: 'object.tenant.name',
    expected: 'a string',
    isValid: isText,
    isOptional: true,
  },
  {
    requirement: 'audit.object-tenant-parent',
    path: 'object.tenant.parent',
    expected: 'a string',
    isValid: isText,
    isOptional: true,
  },
];

/** Checks the field in every entry; another case checks its parent. */
function fieldCase({
  requirement,
  path,
  expected,
  isValid,
  isOptional,
}: EntryField): JudgingCase<EntriesWithFacts> {
  const parent = path.split('.').slice(0, -1).join('.');
  const title = isOptional
    ? `\`${path}\` is absent or ${expected}`
    : `\`${path}\` is present: ${expected}`;
  return {
    id: `entry-has-${path.replaceAll(/[._]/g, '-')}`,
    title: `In an entry, ${title}.`,
    requirements: [requirement],
    run: async (entriesWithFacts, context) => {
      for (const entry of entriesWithFacts.entries) {
        if (parent !== '' && !isEntry(at(entry, parent))) {
          throw new StartStateNotReached(
            `an object ${parent}`,
            `the entry is ${describeValue(entry)}`,
          );
        }
        const value = at(entry, path);
        if (value === undefined && isOptional) continue;
        expectThat(
          isValid(value, entriesWithFacts, context),
          `${path}: ${expected}`,
          describeValue(value ?? 'nothing'),
        );
      }
    },
  };
}

/** Asserts that entries on a type fill the member of that type and no other. */
function expectFilledByType(objectEntries: readonly ReceivedEntry[], type: string): void {
  for (const entry of objectEntries) {
    if (at(entry, 'object.type') !== type) {
      throw new StartStateNotReached(
        `entries on a ${type}`,
        `the entry is ${describeValue(entry)}`,
      );
    }
    const filled = ['tenant', 'user', 'deployment', 'device'].filter(
      (each) => at(entry, `object.${each}`) !== undefined,
    );
    if (filled.join() === type) continue;
    throw new ExpectationFailure(`object.${type} and no other`, describeValue(filled));
  }
}

function byTypeCase(type: 'deployment' | 'device'): JudgingCase<EntriesWithFacts> {
  return {
    id: `entry-on-a-${type}-fills-${type}`,
    title: `In an entry on a ${type}, the member \`${type}\` of \`object\` is filled and no other.`,
    requirements: ['audit.object-fields-by-type'],
    run: async ({ entries }) => expectFilledByType(entries, type),
  };
}

async function ofDeployment(context: TestContext): Promise<EntriesWithFacts> {
  const { deploymentId, deploymentName: name, artifact } = await withdrawnDeployment(context);
  const nowMs = String(context.serverNowMs(await list(context)));
  const objectEntries = await entriesOn(context, deploymentId, 2);
  return { entries: objectEntries, facts: { name, artifactName: artifact.name, nowMs } };
}

const onDeployment = defineScenario({
  area: 'audit-log',
  name: 'Entries on a deployment',
  start: 'a user who has created a deployment and aborted it',
  effect: 'write',
  needs: ['user'],
  arrange: ofDeployment,
  cases: [...deploymentFields.map(fieldCase), byTypeCase('deployment')],
});

async function ofDevice(context: TestContext): Promise<EntriesWithFacts> {
  const device = await acceptedDevice(context);
  const { id } = device;
  await context.admin.decide(id, device.key, 'rejected');
  await context.admin.decommission(id);
  const objectEntries = await entriesOn(context, id, 2);
  return { entries: objectEntries, facts: { id, serial: device.identity.serial ?? '' } };
}

const onDevice = defineScenario({
  area: 'audit-log',
  name: 'Entries on a device',
  start: 'a device that a user has accepted, rejected and decommissioned',
  effect: 'write',
  needs: ['user'],
  arrange: ofDevice,
  cases: [
    ...deviceFields.map(fieldCase),
    byTypeCase('device'),
    {
      id: 'actions-outside-the-vocabulary',
      title: 'Which actions are recorded for a device that is pre-authorized and accepted.',
      requirements: ['audit.other-actions'],
      observe: async ({ entries }) => {
        const actions = entries.map((entry) => textAt(entry, 'action') ?? 'nothing');
        return observationOf(`newest first: ${actions.join(', ')}`);
      },
    },
  ],
});

/** Creates a user with a new role, and returns the resulting entries on objects of the type. */
async function ofAccess(context: TestContext, type: string): Promise<EntriesWithFacts> {
  const { client, maskSecret } = context;
  await context.control.powerlessUser({ client, name: context.newName(), maskSecret });
  const objectEntries = await entries(context, { object_type: type });
  if (objectEntries.length === 0)
    throw new StartStateNotReached(`an entry on a ${type}`, 'there is none');
  const otherEntry = objectEntries.find((entry) => at(entry, 'object.type') !== type);
  if (otherEntry)
    throw new StartStateNotReached(`entries on a ${type} only`, `got ${describeValue(otherEntry)}`);
  return { entries: objectEntries, facts: {} };
}

const onUser = defineScenario({
  area: 'audit-log',
  name: 'Entries on a user',
  start: 'a user who has created another user',
  effect: 'write',
  needs: ['user', 'role-control'],
  arrange: (context) => ofAccess(context, 'user'),
  cases: userFields.map(fieldCase),
});

const onTenant = defineScenario({
  area: 'audit-log',
  name: 'Entries on a tenant',
  start: 'a user who has changed something that belongs to the whole tenant, such as a role',
  effect: 'write',
  needs: ['user', 'role-control'],
  arrange: (context) => ofAccess(context, 'tenant'),
  cases: tenantFields.map(fieldCase),
});

export const auditEntryCases = [...onDeployment, ...onDevice, ...onUser, ...onTenant];
