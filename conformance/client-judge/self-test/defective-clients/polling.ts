/** Clients that poll for updates badly. */
import {
  all,
  body,
  copyOf,
  type DefectiveClient,
  download,
  dropSteps,
  editSteps,
  hasLabel,
  insert,
  provides,
  repeated,
  scene,
} from '../alter.ts';
import type { Request } from '../steps.ts';

/** The same poll of ten other devices, all within a second. */
function others(copy: Request): readonly Request[] {
  return Array.from({ length: 10 }, (_, at) => ({
    ...copyOf(copy),
    client: `device-${at + 2}`,
    label: 'another device',
    afterMs: 10,
  }));
}

export const polling: readonly DefectiveClient[] = [
  {
    duty: 'next.tolerates-unknown-members',
    description: 'fails an update whose offer has a member that it does not know',
    alter: all(
      scene('legal-variations', 'd5: inventory', 'f1: poll after'),
      editSteps('f1: offer', (step) => Object.assign(step.response as object, { unknown: 1 })),
    ),
  },
  {
    duty: 'next.mandatory-keys',
    description: 'leaves out its device type',
    alter: body('idle 2', { device_provides: { artifact_name: 'one' } }),
  },
  {
    duty: 'next.provides-are-strings',
    description: 'sends a number among its pairs',
    alter: provides('idle 2', { 'rootfs.checksum': 7 }),
  },
  {
    duty: 'next.request-stable',
    description: 'changes its pairs while a deployment is active',
    alter: provides('d4: offer again', { 'rootfs.checksum': 'c1' }),
  },
  {
    duty: 'next.name-follows-update',
    description: 'polls with the former name after success',
    alter: all(dropSteps('d1: inventory'), provides('d1: poll after', { artifact_name: 'one' })),
  },
  {
    duty: 'next.name-follows-update',
    description: 'polls at once after success with the former name, and goes on with it',
    alter: all(
      dropSteps('d1: inventory'),
      provides('d1: poll after', { artifact_name: 'one' }),
      editSteps('d1: poll after', { afterMs: 300 }),
      repeated('d1: poll after', 2, { afterMs: 10_000 }),
    ),
  },
  {
    duty: 'next.accepts-204',
    description: 'authenticates after each 204',
    alter: (steps) => {
      const token = steps.find(hasLabel('first token')) as Request;
      return steps.flatMap((step) =>
        /^idle \d/.test(step.label)
          ? [step, { ...copyOf(token), label: 'again', afterMs: 300 }]
          : [step],
      );
    },
  },
  {
    duty: 'next.not-faster-than-a-second',
    description: 'polls every 300 ms',
    alter: repeated('idle 3', 12, { afterMs: 300 }),
  },
  {
    duty: 'next.v2-falls-back',
    description: 'stays with version 2 although it is absent',
    alter: repeated('v2 absent', 3),
  },
  {
    duty: 'next.checks-device-type',
    description: 'installs an artifact for another type',
    alter: all(
      insert('f3: offer', () => [download('f3')]),
      body('f3: failure', { status: 'success' }),
      dropSteps('f3: log'),
      provides(/^f3: poll|idle again|^c1: (offer|poll)|before map|^m1: offer/, {
        artifact_name: 'other',
      }),
    ),
  },
  {
    duty: 'next.409-handled',
    description: 'repeats a poll that met a 409 every 100 ms',
    alter: repeated('idle 3', 5, { afterMs: 100, status: 409, response: { error: 'conflict' } }),
  },
  {
    duty: 'next.jitter',
    description: 'polls in step with ten others after a restart of the server',
    alter: all(
      insert('idle 1', (copy) => [
        ...others(copy),
        { kind: 'server', label: 'restart', event: 'server-restarted', afterMs: 10 },
        ...others(copy),
      ]),
      editSteps('idle 2', { afterMs: 10 }),
    ),
  },
  {
    duty: 'next.tolerates-control-map',
    description: 'leaves an offer alone that has a map that it did not request',
    alter: all(
      editSteps('d1: offer', (step) => {
        const response = structuredClone(step.response) as { artifact: object };
        Object.assign(response.artifact, { update_control_map: { id: 'd1', states: {} } });
        step.response = response;
      }),
      repeated('d1: offer', 8),
      dropSteps(/^d1: (downloading|cut|resumed|installing|success|inventory)/),
      provides(/^d1: poll|^d2: offer/, { artifact_name: 'one' }),
    ),
  },
  {
    duty: 'next.bad-instructions',
    description: 'polls every 100 ms while an offer has no link',
    alter: insert('idle 2', (copy) => {
      const artifact = { artifact_name: 'two', device_types_compatible: ['board'], source: {} };
      const offer = { status: 200, response: { id: 'd0', artifact }, afterMs: 100 };
      return Array.from({ length: 5 }, () => ({ ...copyOf(copy), ...offer, label: 'no link' }));
    }),
  },
  {
    duty: 'next.continues',
    description: 'only polls while its deployment is offered again',
    alter: all(
      repeated('d4: offer again', 8),
      dropSteps(/^d4: (success|inventory)/),
      provides('d4: poll after', { artifact_name: 'four' }),
    ),
  },
];
