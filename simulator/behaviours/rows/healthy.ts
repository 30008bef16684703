/** Devices without errors; they differ only in how long an update takes. */
import { type Behaviour, defineBehaviour } from '../behaviour.ts';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;

export const healthy: readonly Behaviour[] = [
  defineBehaviour({
    name: 'steady',
    description:
      'A healthy device: it installs every update that it is offered and comes up again.',
    expectedServerBehaviour:
      'Offers each deployment once and records downloading, installing, rebooting and success.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {},
  }),
  defineBehaviour({
    name: 'slow',
    description: 'An old board with slow flash: installing and rebooting take long.',
    expectedServerBehaviour: 'Waits, and shows installing and rebooting as long as they last.',
    parameters: { installMs: 20_000, rebootMs: 40_000 },
    hooks: {},
  }),
  defineBehaviour({
    name: 'night-only',
    description: 'A shop terminal that has a network connection at night only.',
    expectedServerBehaviour:
      'Keeps its deployment pending by day, and offers it when the device polls at night.',
    parameters: { installMs: 200, rebootMs: 300, nightFromHour: 22, nightToHour: 5 },
    hooks: {
      offForMs({ parameters, memory, nowMs }) {
        if (memory.putUp === undefined) return 0;
        const { nightFromHour, nightToHour } = parameters;
        const hour = (nowMs / HOUR_MS) % DAY_HOURS;
        const sinceEvening = (hour - nightFromHour + DAY_HOURS) % DAY_HOURS;
        const nightHours = (nightToHour - nightFromHour + DAY_HOURS) % DAY_HOURS;
        // With a night of 24 hours, `nightHours` is 0 and the device is never off.
        if (nightHours === 0 || sinceEvening < nightHours) return 0;
        return Math.ceil((DAY_HOURS - sinceEvening) * HOUR_MS);
      },
      async eachCycle({ memory }) {
        memory.putUp = 1;
      },
    },
  }),
  defineBehaviour({
    name: 'already-installed',
    description: 'A device that was flashed with the deployed artifact at the factory.',
    expectedServerBehaviour:
      'Answers its poll with 204 and records already-installed without sending the file.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: { installedAtStart: ({ deployedArtifact }) => deployedArtifact },
  }),
];
