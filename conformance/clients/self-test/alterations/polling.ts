/** Clients that ask for updates badly. */
import {
  type Alteration,
  all,
  body,
  copyOf,
  download,
  drop,
  edit,
  insert,
  named,
  provides,
  repeated,
  scene,
} from '../alter.ts';
import type { Request } from '../steps.ts';

export const polling: readonly Alteration[] = [
  {
    duty: 'next.tolerates-unknown-members',
    does: 'fails an update whose offer has a member that it does not know',
    alter: all(
      scene('legal-variations', 'd5: inventory', 'f1: poll after'),
      edit('f1: offer', (step) => Object.assign(step.answer as object, { unknown: 1 })),
    ),
  },
  {
    duty: 'next.mandatory-keys',
    does: 'leaves out its device type',
    alter: body('idle 2', (sent) => {
      sent.device_provides = { artifact_name: 'one' };
    }),
  },
  {
    duty: 'next.provides-are-strings',
    does: 'sends a number among its pairs',
    alter: provides('idle 2', { 'rootfs.checksum': 7 }),
  },
  {
    duty: 'next.request-stable',
    does: 'changes its pairs while a deployment is active',
    alter: provides('d4: offer again', { 'rootfs.checksum': 'c1' }),
  },
  {
    duty: 'next.name-follows-update',
    does: 'polls with the former name after success',
    alter: all(drop('d1: inventory'), provides('d1: poll after', { artifact_name: 'one' })),
  },
  {
    duty: 'next.name-follows-update',
    does: 'polls at once after success with the former name, and goes on with it',
    alter: all(
      drop('d1: inventory'),
      provides('d1: poll after', { artifact_name: 'one' }),
      edit('d1: poll after', (step) => {
        step.afterMs = 300;
      }),
      repeated('d1: poll after', 2, { afterMs: 10_000 }),
    ),
  },
  {
    duty: 'next.accepts-204',
    does: 'signs in after each 204',
    alter: (steps) => {
      const token = steps.find(named('first token')) as Request;
      return steps.flatMap((step) =>
        /^idle \d/.test(step.label)
          ? [step, { ...copyOf(token), label: 'again', afterMs: 300 }]
          : [step],
      );
    },
  },
  {
    duty: 'next.not-faster-than-a-second',
    does: 'polls every 300 ms',
    alter: repeated('idle 3', 12, { afterMs: 300 }),
  },
  {
    duty: 'next.v2-falls-back',
    does: 'stays with version 2 although it is absent',
    alter: repeated('v2 absent', 3),
  },
  {
    duty: 'next.checks-device-type',
    does: 'installs an artifact for another type',
    alter: all(
      insert('f3: offer', () => [download('f3')]),
      body('f3: failure', (sent) => {
        sent.status = 'success';
      }),
      drop('f3: log'),
      provides(/^f3: poll|idle again|^c1: (offer|poll)|before map|^m1: offer/, {
        artifact_name: 'other',
      }),
    ),
  },
  {
    duty: 'next.409-handled',
    does: 'repeats a poll that met a 409 every 100 ms',
    alter: repeated('idle 3', 5, { afterMs: 100, status: 409, answer: { error: 'conflict' } }),
  },
  {
    duty: 'next.continues',
    does: 'only polls while its deployment is offered again',
    alter: all(
      repeated('d4: offer again', 8),
      drop(/^d4: (success|inventory)/),
      provides('d4: poll after', { artifact_name: 'four' }),
    ),
  },
];
