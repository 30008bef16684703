/** Clients with bugs that a server has to tolerate. Each sends a bounded number of requests. */
import { type Behaviour, defineBehaviour } from '../behaviour.ts';

const TOO_MANY_REQUESTS = 429;

export const defectiveClients: readonly Behaviour[] = [
  defineBehaviour({
    name: 'never-renews',
    description: 'A client that keeps using its first token and never requests a new one.',
    expectedServerBehaviour: 'Answers 401 to every request once the token has expired.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: { renewsToken: () => false },
  }),
  defineBehaviour({
    name: 'ignores-429',
    description: 'A client that repeats a request at once when it gets 429.',
    expectedServerBehaviour:
      'Keeps answering 429 with Retry-After, and serves other devices meanwhile.',
    parameters: { installMs: 200, rebootMs: 300, retryMs: 100 },
    hooks: {
      waitAfterErrorMs({ parameters }, { status }, defaultMs) {
        return status === TOO_MANY_REQUESTS ? parameters.retryMs : defaultMs;
      },
    },
  }),
  defineBehaviour({
    name: 'reports-success-without-installing',
    description: 'A client that reports success without installing anything.',
    expectedServerBehaviour:
      'Records success as reported; the inventory still shows the old artifact.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: { whenOffered: async () => 'claim-success' },
  }),
  defineBehaviour({
    name: 'floods',
    description:
      'A client that polls in long bursts, because one branch of its loop does not wait.',
    expectedServerBehaviour:
      'Answers 429 to this device beyond its rate, and serves other devices as before.',
    parameters: { installMs: 200, rebootMs: 300, pollMs: 20, burstCount: 200 },
    hooks: {
      nextCycleMs({ parameters, memory }, defaultMs) {
        memory.polls = (memory.polls ?? 0) + 1;
        return memory.polls % parameters.burstCount === 0 ? defaultMs : parameters.pollMs;
      },
    },
  }),
  defineBehaviour({
    name: 'polls-in-lockstep',
    description: 'A client that polls at round clock times, like every other client of its kind.',
    expectedServerBehaviour:
      'Answers every device, later if necessary, and refuses none permanently.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      nextCycleMs: ({ nowMs, pollIntervalMs }) => pollIntervalMs - (nowMs % pollIntervalMs),
      waitAfterErrorMs({ nowMs, pollIntervalMs }) {
        return pollIntervalMs - (nowMs % pollIntervalMs);
      },
    },
  }),
  defineBehaviour({
    name: 'ignores-409',
    description:
      'A client that treats 409 like any other response and continues an aborted update.',
    expectedServerBehaviour: 'Answers 409 to each further report and keeps the status aborted.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      stopsWhenAborted: () => false,
      async whileInstalling(context) {
        await context.requestAbort();
      },
    },
  }),
  defineBehaviour({
    name: 'keeps-a-finished-deployments-id',
    description:
      'A client that does not clear its state and repeats its last success at every poll.',
    expectedServerBehaviour: 'Answers 204 each time, changes nothing, and counts the device once.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      async eachCycle({ reportFinishedAgain }) {
        await reportFinishedAgain();
      },
    },
  }),
];
