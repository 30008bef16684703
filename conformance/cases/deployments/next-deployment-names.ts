/**
 * Cases: a deployment is offered to devices whose installed artifact has almost its name.
 * Spec: Device deployments v1, v2
 */
import { offersAny } from '../../context/instructions.ts';
import { type PollVariant, pollVariants } from '../../context/poll-variants.ts';
import { acceptedDevice, factoryProvides } from '../../context/start-states.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import { expectThat, responseSummary } from '../../target/expectations.ts';

/** Names that a careless comparison takes for that of the deployed release. */
const almostEqual = {
  'a beginning of the name': (name: string) => name.slice(0, -1),
  'more than the name': (name: string) => `${name}0`,
  'the name in capital letters': (name: string) => name.toUpperCase(),
} as const;
type AlmostEqual = keyof typeof almostEqual;

/** Two of them for each form, which together see each of them twice. */
const namesOf: Readonly<Record<PollVariant['slug'], readonly [AlmostEqual, AlmostEqual]>> = {
  get: ['a beginning of the name', 'the name in capital letters'],
  post: ['more than the name', 'a beginning of the name'],
  v2: ['the name in capital letters', 'more than the name'],
};

function offeredCase({ slug, label, pendingIs200, needs, poll }: PollVariant): JudgingCase<void> {
  const [one, other] = namesOf[slug];
  return {
    id: `${slug}-with-almost-the-name-is-offered`,
    title: `${label}: a device whose artifact is called ${one}, or ${other}, is offered the release.`,
    requirements: [pendingIs200],
    needs,
    run: async (_, context) => {
      const { name } = await context.artifact('plain');
      const devices = [await acceptedDevice(context), await acceptedDevice(context)] as const;
      await context.deploy({ artifact_name: name, devices: devices.map(({ id }) => id) });
      for (const [index, what] of namesOf[slug].entries()) {
        const provides = { ...factoryProvides, artifact_name: almostEqual[what](name) };
        const response = await context.eventually(
          () => poll(devices[index] ?? devices[0], provides),
          offersAny,
        );
        expectThat(offersAny(response), `an offer for ${what}`, responseSummary(response));
      }
    },
  };
}

/** Spec: Device deployments v1, v2 */
export const nextDeploymentNameCases = defineScenario<void>({
  area: 'next-deployment',
  name: 'Artifacts with almost the same name',
  start: 'two accepted devices of the case, for which a release is deployed',
  effect: 'write',
  needs: ['user'],
  arrange: () => undefined,
  cases: pollVariants.map(offeredCase),
});
