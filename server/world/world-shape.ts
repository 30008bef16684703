/**
 * The format of world files: devices, artifacts, deployments and users, and how long ago each was
 * created. The JSON Schema is derived from this shape.
 */
import * as v from 'valibot';
import { limits } from '../../fixtures/contract/limits.ts';
import { emailShape } from '../../fixtures/contract/management/email.ts';
import { isTimestamp } from '../../fixtures/contract/text.ts';
import { deviceDeploymentStatuses } from '../../fixtures/contract/vocabulary.ts';

/** Limits of a world. The simulator can create larger fleets. */
const DEVICES_MAX = 10_000;
const OTHERS_MAX = 1000;
const NAME_MAX = 256;

const duration = v.pipe(
  v.string('must be a duration such as 90s, 15m, 1h or 7d'),
  v.regex(/^\d{1,9}[smhd]$/, 'must be a duration such as 90s, 15m, 1h or 7d'),
);
const text = v.pipe(
  v.string('must be a string'),
  v.nonEmpty('must not be empty'),
  v.maxCodePoints(NAME_MAX, `must have at most ${NAME_MAX} characters`),
);
/** Age of the resource at the world's time; zero if absent. */
const ago = v.optional(duration);
const value = v.union(
  [v.string(), v.number(), v.array(v.union([v.string(), v.number()]))],
  'must be a string, a number, or a list of them',
);

function list<const Item extends v.GenericSchema>(item: Item, max: number) {
  return v.optional(
    v.pipe(v.array(item, 'must be a list'), v.maxLength(max, `must be at most ${max}`)),
    [],
  );
}

const worldDeviceStatuses = ['pending', 'accepted', 'rejected', 'preauthorized'] as const;

const deviceShape = v.strictObject({
  /** Name by which the rest of the file refers to the device. */
  name: text,
  identity: v.optional(v.record(v.string(), value, 'must be an object of identity attributes')),
  status: v.optional(
    v.picklist(worldDeviceStatuses, `must be one of ${worldDeviceStatuses.join(', ')}`),
    'accepted',
  ),
  ago,
  /**
   * The public key in PEM (SPKI). If absent, a key is generated and returned when the world is
   * loaded.
   */
  publicKey: v.optional(v.string('must be a public key in PEM')),
  inventory: v.optional(v.record(v.string(), value, 'must be an object of attributes')),
  configuration: v.optional(v.record(v.string(), v.string('must be a string'))),
  reportedConfiguration: v.optional(v.record(v.string(), v.string('must be a string'))),
  group: v.optional(text),
});

const artifactShape = v.strictObject({
  name: text,
  deviceTypes: v.pipe(
    v.array(text, 'must be a list of device types'),
    v.minLength(1, 'must name at least one device type'),
  ),
  /** Content of the only file in the artifact's payload. */
  content: v.optional(v.string('must be a string'), 'made by a world\n'),
  ago,
});

const deploymentShape = v.strictObject({
  name: text,
  artifact: text,
  /** Names of devices. If absent, all accepted devices. */
  devices: v.optional(v.array(text, 'must be a list of device names')),
  ago,
  retries: v.optional(v.pipe(v.number('must be a number'), v.integer(), v.minValue(0))),
  /** The last status of each device, by the device's name. */
  reached: v.optional(
    v.record(
      v.string(),
      v.picklist(deviceDeploymentStatuses, `must be one of ${deviceDeploymentStatuses.join(', ')}`),
    ),
    {},
  ),
  aborted: v.optional(v.boolean('must be true or false'), false),
});

const userShape = v.strictObject({
  email: emailShape,
  password: v.pipe(
    v.string('must be a string'),
    v.minCodePoints(limits.passwordMinCharacters, 'is too short'),
    v.maxCodePoints(limits.passwordMaxCharacters, 'is too long'),
  ),
  roles: v.optional(v.array(text, 'must be a list of role names'), []),
});

/** The shape of a world file. */
export const worldShape = v.strictObject({
  /** The world's time. If absent, the server's time. */
  now: v.optional(
    v.pipe(
      v.string('must be a date-time such as 2027-08-25T00:00:00Z'),
      v.check(isTimestamp, 'must be a date-time such as 2027-08-25T00:00:00Z'),
    ),
  ),
  users: list(userShape, OTHERS_MAX),
  devices: list(deviceShape, DEVICES_MAX),
  artifacts: list(artifactShape, OTHERS_MAX),
  deployments: list(deploymentShape, OTHERS_MAX),
});

export type World = v.InferOutput<typeof worldShape>;
export type WorldDevice = World['devices'][number];
export type WorldDeployment = World['deployments'][number];

/** Returns the JSON Schema of world files, for editors. */
export async function worldJsonSchema(): Promise<object> {
  const { jsonSchemaOf } = await import('../../fixtures/base/json-schema.ts');
  return {
    ...jsonSchemaOf(worldShape),
    title: 'A world file of Fleetbed',
  };
}

const millisecondsPerUnit: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Returns the length of an `ago` in milliseconds. */
export function agoMs(duration: string | undefined): number {
  if (duration === undefined) return 0;
  return Number(duration.slice(0, -1)) * (millisecondsPerUnit[duration.slice(-1)] ?? 0);
}
