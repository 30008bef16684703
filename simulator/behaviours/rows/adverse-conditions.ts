/** Devices whose update succeeds despite an unusual network, clock or identity. */
import { type Behaviour, defineBehaviour } from '../behaviour.ts';

const YEAR_MS = 365 * 86_400_000;

export const adverseConditions: readonly Behaviour[] = [
  defineBehaviour({
    name: 'flaky-2g',
    description: 'A meter in a cellar with a 2G modem: slow, with jitter and lost connections.',
    expectedServerBehaviour:
      'Accepts repeated reports as one, serves ranges, and lets the device finish at its own pace.',
    parameters: {
      installMs: 200,
      rebootMs: 300,
      latencyMs: 600,
      jitterMs: 400,
      lossShare: 0.05,
      bandwidthBytesPerSecond: 5000,
    },
    hooks: {
      network: ({ latencyMs, jitterMs, lossShare, bandwidthBytesPerSecond: bytesPerSecond }) => {
        return { latencyMs, jitterMs, lossShare, bytesPerSecond };
      },
    },
  }),
  defineBehaviour({
    name: 'clock-skew',
    description: 'A device without a battery for its clock, which is years behind.',
    expectedServerBehaviour:
      'Stores its timestamps as sent, decides nothing by them, and answers 401 to an expired token.',
    parameters: { installMs: 200, rebootMs: 300, clockSkewMs: -5 * YEAR_MS },
    hooks: { clockSkewMs: ({ clockSkewMs }) => clockSkewMs },
  }),
  defineBehaviour({
    name: 'alert-storm',
    description: 'A device with a flapping service that reports each change at once.',
    expectedServerBehaviour:
      'Accepts what it can, answers 429 to the rest, and serves other devices as before.',
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
        for (let sentCount = 0; sentCount < parameters.messagesCount; sentCount++)
          await postAlerts(alerts);
      },
    },
  }),
  defineBehaviour({
    name: 'socket-flapping',
    description: 'A device behind a router that drops every idle connection after a few seconds.',
    expectedServerBehaviour:
      'Accepts each new connection, closes the old one, and shows the device as connected.',
    parameters: { installMs: 200, rebootMs: 300, holdMs: 3000 },
    hooks: { socketHoldsMs: ({ holdMs }) => holdMs },
  }),
  defineBehaviour({
    name: 'key-rotation',
    description:
      'A device that generates a new key from time to time, as its security policy requires.',
    expectedServerBehaviour: 'Adds the new key to the same device, pending until it is accepted.',
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
    description: 'Two devices flashed from one image with the same key: one device to the server.',
    expectedServerBehaviour:
      'Knows one device with one key, accepts both boards, and never confuses them with a third.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      async eachCycle({ runClone }) {
        await runClone('factory-image');
      },
    },
  }),
];
