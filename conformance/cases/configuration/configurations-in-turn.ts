/**
 * Cases: configuration deployments of one device that follow one another, each requested in
 * another variant of a poll. Spec: Device deployments v1, v2; Device configuration
 */
import { arrangeReports } from '../../context/deployment-life.ts';
import { fieldIn, requireInstructions, textIn } from '../../context/instructions.ts';
import { type PollVariant, pollVariants } from '../../context/poll-variants.ts';
import {
  acceptedDevice,
  factoryProvides,
  requireOffer,
  requireResponse,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { pairsIn } from '../../target/configuration-body.ts';
import {
  describeValue,
  ExpectationFailure,
  expectUrl,
  NotObservable,
} from '../../target/expectations.ts';

/**
 * The configurations that users set before each deployment: values change, and pairs are removed
 * and added.
 */
const configurations = [
  { timezone: 'Europe/Oslo', colour: 'blue' },
  { colour: 'red', size: 'large' },
  { colour: 'red', size: 'large', shape: 'round' },
] as const;

/** Deploys the configuration, and asserts that the link of its offer returns these pairs. */
async function expectDelivered(
  device: SuiteDevice,
  { operation, poll, label }: PollVariant,
  context: TestContext,
): Promise<void> {
  const { configured } = await context.admin.configuration(device.id);
  // A server may have cached for this poll that there is no update.
  await poll(device, factoryProvides);
  await context.deployConfiguration(device);
  const offer = requireInstructions(
    await requireOffer(context, operation, () => poll(device, factoryProvides)),
  );
  const uri = fieldIn(offer, 'artifact.source.uri');
  const url = expectUrl(`${label}: a source`, typeof uri === 'string' ? uri : undefined);
  const response = await context.client.send({ method: 'GET', url });
  requireResponse('download-configuration', response, 200);
  await arrangeReports({ device, id: textIn(offer, 'id') }, 'success');
  const pairs = await pairsIn(response.bytes);
  if (!pairs) throw new NotObservable('the configuration has a form of its own');
  const [expected, actual] = [configured, pairs].map((each) =>
    describeValue(Object.fromEntries(Object.entries(each).sort())),
  ) as [string, string];
  if (expected === actual) return;
  const holds = ['download.holds-the-pairs'] as const;
  throw new ExpectationFailure(`${label}: ${expected}`, actual, holds);
}

/** Spec: Device deployments v1, v2; Device configuration */
export const configurationInTurnCases = defineScenario<SuiteDevice>({
  area: 'configuration-download',
  name: 'One configuration deployment after another',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'each-deployment-delivers-its-own-pairs',
      title:
        'Each of several configuration deployments, in each form of request, delivers what is configured then.',
      requirements: ['download.holds-the-pairs', 'download.gives-the-configuration'],
      run: async (device, context) => {
        const polls = pollVariants.filter(
          ({ operation }) => operation in context.offered({ [operation]: true }),
        );
        for (const [index, pairs] of configurations.entries()) {
          const variant = polls[(index + 1) % polls.length] ?? pollVariants[0];
          await context.admin.configure(device.id, pairs);
          // The device removes a pair before its last deployment.
          if (index === 2) await device.call('put-configuration', { body: { size: '' } });
          await expectDelivered(device, variant, context);
        }
      },
    },
  ],
});
