/** Defects in entries of the audit log, field by field. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { changedAt } from '../alter.ts';
import { bodyBecomes, fieldBecomes, fieldLeftOut } from '../alterations.ts';
import type { Defect } from '../defect.ts';

const operations = ['list-audit-logs'] as const;

/** Required fields of every entry of a kind. */
const requiredFields: Readonly<Record<string, RequirementId>> = {
  actor: 'audit.actor',
  'actor.id': 'audit.actor-id',
  'actor.type': 'audit.actor-type',
  time: 'audit.time',
  action: 'audit.action',
  object: 'audit.object',
  'object.id': 'audit.object-id',
  'object.type': 'audit.object-type',
  'object.deployment.name': 'audit.object-deployment-name',
  'object.deployment.artifact_name': 'audit.object-deployment-artifact-name',
  'object.device.identity_data': 'audit.object-device-identity-data',
  'object.user.email': 'audit.object-user-email',
  'object.tenant.id': 'audit.object-tenant-id',
};

function withoutField([path, requirement]: [string, RequirementId]): Defect {
  return {
    id: `audit-entry-without-${path.replaceAll(/[._]/g, '-')}`,
    title: `Entries of the audit log lack \`${path}\`.`,
    violates: [requirement],
    operations,
    alter: fieldLeftOut(`*.${path}`),
  };
}

interface EntryFieldDefect {
  readonly id: string;
  readonly title: string;
  readonly violates: Defect['violates'];
  readonly path: string;
  readonly value: (value: unknown) => unknown;
}

/** Fields with a forbidden value. */
const oddFields: readonly EntryFieldDefect[] = [
  {
    id: 'audit-actor-type-is-another-word',
    title: 'The type of an actor is `admin`.',
    violates: ['audit.actor-type', 'audit.export-same-entries'],
    path: '*.actor.type',
    value: () => 'admin',
  },
  {
    id: 'audit-actor-id-is-a-number',
    title: 'The ID of an actor is a number.',
    violates: ['audit.actor-id'],
    path: '*.actor.id',
    value: () => 7,
  },
  {
    id: 'audit-actor-is-a-string',
    title: 'The actor is a string instead of an object.',
    violates: ['audit.actor'],
    path: '*.actor',
    value: () => 'admin',
  },
  {
    id: 'audit-actor-email-is-a-name',
    title: 'The email of an actor is a name.',
    violates: ['audit.actor-email', 'audit.export-same-entries'],
    path: '*.actor.email',
    value: () => 'the admin',
  },
  {
    id: 'audit-time-is-in-seconds',
    title: 'The time of an entry is a number of Unix seconds.',
    violates: ['audit.time'],
    path: '*.time',
    value: (time) => Math.floor(Date.parse(String(time)) / 1000),
  },
  {
    id: 'audit-time-is-the-epoch',
    title: 'The time of every entry is the start of 1970.',
    violates: ['audit.time', 'audit.export-same-entries', 'audit.time-of-the-act'],
    path: '*.time',
    value: () => '1970-01-01T00:00:00Z',
  },
  {
    id: 'audit-action-is-in-capitals',
    title: 'Actions are in capital letters.',
    violates: ['audit.action'],
    path: '*.action',
    value: (action) => String(action).toUpperCase(),
  },
  {
    id: 'audit-object-type-is-plural',
    title: 'The type of an object is in the plural.',
    violates: ['audit.object-type', 'audit.export-same-entries'],
    path: '*.object.type',
    value: (type) => `${type}s`,
  },
  {
    id: 'audit-device-id-is-another',
    title: 'The ID within `object.device` is not that of the device.',
    violates: ['audit.object-device-id'],
    path: '*.object.device.id',
    value: () => 'another device',
  },
  {
    id: 'audit-identity-is-an-object',
    title: 'The identity data of a device is an object instead of a string.',
    violates: ['audit.object-device-identity-data'],
    path: '*.object.device.identity_data',
    value: (text) => JSON.parse(String(text)),
  },
  {
    id: 'audit-deployment-name-is-cut',
    title: 'The name of a deployment is cut off.',
    violates: ['audit.object-deployment-name', 'audit.export-same-entries'],
    path: '*.object.deployment.name',
    value: (name) => String(name).slice(0, 12),
  },
  {
    id: 'audit-artifact-name-is-that-of-the-deployment',
    title: 'The artifact name of a deployment is cut off.',
    violates: ['audit.object-deployment-artifact-name', 'audit.export-same-entries'],
    path: '*.object.deployment.artifact_name',
    value: (name) => String(name).slice(0, 12),
  },
];

function odd({ path, value, violates, ...texts }: EntryFieldDefect): Defect {
  return { ...texts, violates, operations, alter: fieldBecomes(path, value) };
}

/** Adds a member at a path to entries; existing members stay. */
function withMember(path: string, member: Readonly<Record<string, unknown>>) {
  return bodyBecomes((value) =>
    changedAt(value, path, (object) =>
      typeof object === 'object' && object !== null ? { ...object, ...member } : object,
    ),
  );
}

/** Omits entries of one action from the list. */
function unlisted(action: string): Defect['alter'] {
  return bodyBecomes((value) =>
    Array.isArray(value) ? value.filter((entry) => entry?.action !== action) : value,
  );
}

const unrecorded: Readonly<Record<string, Defect['violates']>> = {
  create: ['audit.deployment-created', 'audit.one-entry-per-action'],
  abort: ['audit.deployment-aborted'],
  reject: ['audit.device-rejected', 'audit.recorded-actions'],
  decommission: ['audit.device-decommissioned', 'audit.recorded-actions'],
};

export const auditEntryDefects: readonly Defect[] = [
  ...Object.entries(requiredFields).map(withoutField),
  ...oddFields.map(odd),
  ...Object.entries(unrecorded).map(
    ([action, violates]): Defect => ({
      id: `audit-log-without-${action}`,
      title: `The action \`${action}\` has no entry.`,
      // The total still counts the entries that are missing.
      violates: [...violates, 'audit.total'],
      operations,
      alter: unlisted(action),
    }),
  ),
  {
    id: 'audit-creation-is-an-update',
    title: 'The creation of a deployment is recorded as `update`.',
    violates: ['audit.deployment-created'],
    operations,
    alter: fieldBecomes('*.action', (action) => (action === 'create' ? 'update' : action)),
  },
  {
    id: 'audit-entries-are-strings',
    title: 'The entries of the list are strings.',
    violates: ['audit.entry-fields'],
    operations,
    alter: fieldBecomes('*', (entry) => JSON.stringify(entry)),
  },
  {
    id: 'audit-actor-identity-is-an-object',
    title: 'The identity data of an actor is an object.',
    violates: ['audit.actor-identity-data'],
    operations,
    alter: withMember('*.actor', { identity_data: { maker: 'none' } }),
  },
  {
    id: 'audit-change-is-an-array',
    title: 'The change of an entry is an array.',
    violates: ['audit.change'],
    operations,
    alter: withMember('*', { change: ['one', 'two'] }),
  },
  {
    id: 'audit-object-fills-every-member',
    title: 'Every entry fills `user` in its object, whatever its type.',
    violates: ['audit.object-fields-by-type'],
    operations,
    alter: withMember('*.object', { user: { email: 'nobody@example.com' } }),
  },
  {
    id: 'audit-tenant-name-is-a-number',
    title: 'The name of a tenant is a number.',
    violates: ['audit.object-tenant-name'],
    operations,
    alter: withMember('*.object.tenant', { name: 7 }),
  },
  {
    id: 'audit-tenant-parent-is-an-object',
    title: 'The parent of a tenant is an object.',
    violates: ['audit.object-tenant-parent'],
    operations,
    alter: withMember('*.object.tenant', { parent: { id: 'one' } }),
  },
];
