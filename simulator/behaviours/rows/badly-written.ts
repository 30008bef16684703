/** Clients with a bug that servers have to live with. Each is bounded: none can ask without end. */
import { type Behaviour, defineBehaviour } from '../behaviour.ts';

const TOO_MANY_REQUESTS = 429;

export const badlyWritten: readonly Behaviour[] = [
  defineBehaviour({
    name: 'never-renews',
    standsFor: 'A client that keeps its first token for ever and never asks for another one.',
    goodServer: 'Answers 401 to every call once the token is over, and lets it do nothing.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: { renewsToken: () => false },
  }),
  defineBehaviour({
    name: 'ignores-429',
    standsFor: 'A client that asks again at once when it is told to slow down.',
    goodServer: 'Goes on answering 429 with Retry-After, and lets others through meanwhile.',
    parameters: { installMs: 200, rebootMs: 300, retryMs: 100 },
    hooks: {
      waitAfterFaultMs({ parameters }, { status }, usualMs) {
        return status === TOO_MANY_REQUESTS ? parameters.retryMs : usualMs;
      },
    },
  }),
  defineBehaviour({
    name: 'reports-success-without-installing',
    standsFor: 'A client that reports success to be left in peace, and installs nothing.',
    goodServer:
      'Records success as told; the inventory still shows the old artifact, for people to see.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: { whenOffered: async () => 'claim-success' },
  }),
  defineBehaviour({
    name: 'floods',
    standsFor: 'A client whose wait is missing in one branch of its loop: it polls in long bursts.',
    goodServer:
      'Answers 429 to this device beyond its rate, and serves the other devices as before.',
    parameters: { installMs: 200, rebootMs: 300, pollMs: 20, burstCount: 200 },
    hooks: {
      nextCycleMs({ parameters, memory }, usualMs) {
        memory.polls = (memory.polls ?? 0) + 1;
        return memory.polls % parameters.burstCount === 0 ? usualMs : parameters.pollMs;
      },
    },
  }),
  defineBehaviour({
    name: 'polls-in-lockstep',
    standsFor:
      'A client that polls at round times of the clock, as every other one of its kind does.',
    goodServer: 'Answers the whole herd, later if need be; none is refused for good.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      nextCycleMs: ({ nowMs, pollIntervalMs }) => pollIntervalMs - (nowMs % pollIntervalMs),
      waitAfterFaultMs({ nowMs, pollIntervalMs }) {
        return pollIntervalMs - (nowMs % pollIntervalMs);
      },
    },
  }),
  defineBehaviour({
    name: 'ignores-409',
    standsFor: 'A client that takes a 409 for any other answer and goes on with an aborted update.',
    goodServer: 'Answers 409 to each further report and keeps aborted, whatever the device says.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      stopsWhenAborted: () => false,
      async whileInstalling(moment) {
        await moment.askForAbort();
      },
    },
  }),
  defineBehaviour({
    name: 'keeps-a-finished-deployments-id',
    standsFor: 'A client that does not clear its state: it reports the last success at every poll.',
    goodServer: 'Answers 204 each time, changes nothing, and counts the device once.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      async eachCycle({ reportFinishedAgain }) {
        await reportFinishedAgain();
      },
    },
  }),
];
