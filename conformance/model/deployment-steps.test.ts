import { describe, expect, it } from 'vitest';
import { pollVariants } from '../context/poll-variants.ts';
import { contextOn } from '../testing/context-on.ts';
import { serve } from '../testing/stub-server.ts';
import { arrangeStart } from './authentication-steps.ts';
import { pollStep, reportStep } from './deployment-steps.ts';
import { ExpectedState } from './expected-state.ts';
import type { ModelStep, TargetSide } from './step.ts';

/** Starts a server that accepts every report and offers deployments with these IDs in order. */
function serverOffering(...ids: readonly string[]): Promise<string> {
  const remainingIds = [...ids];
  return serve((request, response) => {
    const { url = '' } = request;
    if (url.includes('/devauth/devices')) response.writeHead(201, { location: '/devices/7' }).end();
    else if (url.includes('/auth_requests')) response.end('a-token');
    else if (url.endsWith('/status')) response.writeHead(204).end();
    else response.end(JSON.stringify({ id: remainingIds.shift(), artifact: {} }));
  });
}

/** Takes these steps with one accepted device that has two deployments, `one` and `two`. */
async function runSteps(baseUrl: string, steps: readonly ModelStep[]): Promise<void> {
  const context = contextOn(baseUrl);
  const expectedState = new ExpectedState(['accepted']);
  const targetSide: TargetSide = {
    context,
    devices: [await context.newDevice()],
    deployments: ['one', 'two'].map((id) => ({ deploymentId: id, id })),
    recordObservation: () => undefined,
    eventually: (read) => read(),
  };
  await arrangeStart(expectedState, targetSide);
  expectedState.deployments.push({ device: 0, offer: 'waiting' }, { device: 0, offer: 'waiting' });
  for (const step of steps) {
    expect(step.isPossible(expectedState), step.title).toBe(true);
    await step.run(expectedState, targetSide);
  }
}

const poll = pollStep(0, pollVariants[0]);
const reportSuccess = reportStep(0, 0, 'success');
const reportInstalling = reportStep(0, 0, 'installing');

describe('a device that polls for its deployment', () => {
  it('must be offered the same deployment until it has reported the end', async () => {
    const target = await serverOffering('one', 'two');
    await expect(runSteps(target, [poll, poll])).rejects.toMatchObject({
      violated: ['next.repeatable'],
    });
  });

  it.each(['one', 'two'])(
    'may be offered "%s" once it reports progress for a finished deployment',
    async (third) => {
      const target = await serverOffering('one', 'two', third);
      await expect(
        runSteps(target, [poll, reportSuccess, poll, reportInstalling, poll]),
      ).resolves.toBeUndefined();
    },
  );

  it('may be offered either of two reported deployments under an ID of version 2', async () => {
    const target = await serverOffering('other');
    const variant = pollVariants.find(({ slug }) => slug === 'v2') ?? pollVariants[0];
    const steps = [
      reportStep(0, 0, 'installing'),
      reportStep(0, 1, 'installing'),
      pollStep(0, variant),
    ];
    await expect(runSteps(target, steps)).resolves.toBeUndefined();
  });
});
