/** Devices whose update goes well while something about them is strange: network, clock, identity. */
import { type Behaviour, defineBehaviour } from '../behaviour.ts';

const YEAR_MS = 365 * 86_400_000;

export const troubled: readonly Behaviour[] = [
  defineBehaviour({
    name: 'flaky-2g',
    standsFor: 'A meter in a cellar with a 2G modem: slow, jittery, and now and then cut off.',
    goodServer: 'Takes repeated reports as one, serves ranges, and lets it finish in its own time.',
    parameters: {
      installMs: 200,
      rebootMs: 300,
      latencyMs: 600,
      jitterMs: 400,
      lossShare: 0.05,
      bandwidthBytesPerSecond: 5000,
    },
    hooks: {
      link: ({ latencyMs, jitterMs, lossShare, bandwidthBytesPerSecond: bytesPerSecond }) => {
        return { latencyMs, jitterMs, lossShare, bytesPerSecond };
      },
    },
  }),
  defineBehaviour({
    name: 'clock-skew',
    standsFor: 'A device without a battery for its clock: it believes to live years ago.',
    goodServer:
      'Stores its timestamps as told, decides nothing by them, and answers 401 to a token that is over.',
    parameters: { installMs: 200, rebootMs: 300, clockSkewMs: -5 * YEAR_MS },
    hooks: { clockSkewMs: ({ clockSkewMs }) => clockSkewMs },
  }),
  defineBehaviour({
    name: 'alert-storm',
    standsFor: 'A device with a flapping service that tells of each change at once.',
    goodServer:
      'Takes what it can, answers 429 to the rest, and serves the other devices as before.',
    parameters: { installMs: 200, rebootMs: 300, messagesCount: 4, alertsCount: 50 },
    hooks: {
      async eachCycle({ parameters, nowMs, postAlerts }) {
        const subject = { name: 'flapping.service', type: 'systemd.unit' };
        const timestamp = new Date(nowMs).toISOString();
        const alerts = Array.from({ length: parameters.alertsCount }, (_, at) => {
          const level = at % 2 === 0 ? ('CRITICAL' as const) : ('OK' as const);
          const status = at % 2 === 0 ? 'not-running' : 'running';
          return { name: 'Flapping service', level, subject: { ...subject, status }, timestamp };
        });
        for (let sent = 0; sent < parameters.messagesCount; sent++) await postAlerts(alerts);
      },
    },
  }),
  defineBehaviour({
    name: 'socket-flapping',
    standsFor: 'A device behind a router that forgets every idle connection after a few seconds.',
    goodServer: 'Takes each new connection, ends the old one, and shows the device as connected.',
    parameters: { installMs: 200, rebootMs: 300, holdMs: 3000 },
    hooks: { socketHoldsMs: ({ holdMs }) => holdMs },
  }),
  defineBehaviour({
    name: 'key-rotation',
    standsFor: 'A device that makes itself a new key now and then, as its security policy asks.',
    goodServer:
      'Files the new key as a further one of the same device, pending until it is accepted.',
    parameters: { installMs: 200, rebootMs: 300, everyCyclesCount: 10 },
    hooks: {
      async eachCycle({ parameters, memory, rotateKey }) {
        memory.cycles = (memory.cycles ?? 0) + 1;
        if (memory.cycles % parameters.everyCyclesCount === 0) await rotateKey();
      },
    },
  }),
  defineBehaviour({
    name: 'cloned-identity',
    standsFor: 'Two devices flashed from one image that held the key: to the server they are one.',
    goodServer: 'Knows one device with one key, lets both in, and never mixes in a third.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      async eachCycle({ letCloneSpeak }) {
        await letCloneSpeak('factory-image');
      },
    },
  }),
];
