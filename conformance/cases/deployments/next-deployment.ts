/** Cases: when a device is offered a deployment. Spec: Device deployments v1, v2 */
import { arrangeAbort, arrangeReports } from '../../context/deployment-life.ts';
import { expectNoOffer } from '../../context/expect-no-offer.ts';
import { requireInstructions, textIn } from '../../context/instructions.ts';
import { type PollVariant, pollVariants } from '../../context/poll-variants.ts';
import { nearTypes } from '../../context/sample-artifacts.ts';
import {
  acceptedDevice,
  activeDeployment,
  type DeviceInDeployment,
  factoryProvides,
  type OfferedDeployment,
  pendingDeployment,
  requireOffer,
  requireStatus,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase, type ObservingCase } from '../../suite/case.ts';
import {
  expectStatus,
  expectThat,
  observedResponse,
  responseSummary,
} from '../../target/expectations.ts';

/** Provides that no deployment matches. */
const otherProvides = { ...factoryProvides, artifact_name: 'conformance-stranger' };

function idleCases(variant: PollVariant): JudgingCase<SuiteDevice>[] {
  const { operation, slug, label, pendingIs200, needs, poll } = variant;
  return [
    {
      id: `${slug}-nothing-is-204`,
      title: `${label}: a device without a pending deployment is answered with 204.`,
      requirements: ['next.nothing-is-204'],
      covers: [`${operation} 204`],
      needs,
      run: async (device) => expectStatus(await poll(device, factoryProvides), 204),
    },
    {
      id: `${slug}-after-204-is-offered`,
      title: `${label}: a deployment that is created after a 204 is offered to the same request at once.`,
      requirements: [pendingIs200],
      needs,
      run: async (device, context) => {
        const { name } = await context.artifact('plain');
        // A device of the same deployment that has not polled yet shows when it is pending.
        const otherDevice = await acceptedDevice(context);
        requireStatus('nothing to install', await poll(device, factoryProvides), 204);
        await context.deploy({ artifact_name: name, devices: [device.id, otherDevice.id] });
        const pollOfOther = () => poll(otherDevice, factoryProvides);
        const otherResponse = await context.eventually(pollOfOther, ({ status }) => status !== 204);
        requireStatus('an offer to the other device', otherResponse, 200);
        expectStatus(await poll(device, factoryProvides), 200);
      },
    },
  ];
}

const idle = defineScenario({
  area: 'next-deployment',
  name: 'Nothing pending',
  start: 'an accepted device without a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    ...pollVariants.flatMap(idleCases),
    {
      id: 'both-versions-are-served',
      title: 'A device may poll for its next deployment in v1 and in v2.',
      requirements: ['versioning.both-versions-served'],
      needs: ['deployments-v2'],
      run: async (device) => {
        for (const { poll, label } of pollVariants) {
          const response = await poll(device, factoryProvides);
          const isServed = ![404, 405, 410, 501].includes(response.status);
          expectThat(isServed, `${label} that is served`, responseSummary(response));
        }
      },
    },
    {
      id: 'artifact-that-nobody-knows',
      title: 'How a device that reports an unknown artifact is answered; GET lists 404.',
      requirements: ['next.not-found'],
      covers: ['get-next-deployment 404'],
      observe: async (device, context) => {
        const query = { ...factoryProvides, artifact_name: context.newName() };
        return observedResponse(await device.call('get-next-deployment', { query }));
      },
    },
  ],
});

type OfferCase = JudgingCase<DeviceInDeployment> | ObservingCase<DeviceInDeployment>;

function pendingCases(variant: PollVariant): OfferCase[] {
  const { operation, slug, label, pendingIs200, needs, poll } = variant;
  return [
    {
      id: `${slug}-pending-is-200`,
      title: `${label}: a device with a pending deployment is answered with 200.`,
      requirements: [pendingIs200],
      covers: [`${operation} 200`],
      run: async ({ device }) => expectStatus(await poll(device, factoryProvides), 200),
    },
    ...Object.entries({ other: 'another-board', ...nearTypes }).map(([kind, type]) => ({
      id: `${slug}-${kind}-device-type-is-offered-nothing`,
      title: `${label}: a device of the type ${type}, which the artifact does not list, is offered nothing.`,
      requirements: ['next.compatible-types-only'] as const,
      needs,
      run: async ({ device }: DeviceInDeployment) =>
        expectNoOffer(await poll(device, { ...factoryProvides, device_type: type })),
    })),
    {
      id: `${slug}-other-device-is-offered-nothing`,
      title: `${label}: a device that the deployment does not list is offered nothing.`,
      requirements: ['next.own-deployments-only'],
      needs,
      run: async ({ device }, context) => {
        const otherDevice = await acceptedDevice(context);
        requireStatus('a pending deployment', await poll(device, factoryProvides), 200);
        expectNoOffer(await poll(otherDevice, otherProvides));
      },
    },
    {
      id: `${slug}-artifact-already-installed`,
      title: `${label}: a device that already has the artifact may still be offered it.`,
      requirements: ['next.already-installed'],
      needs,
      observe: async ({ device, artifact }) =>
        observedResponse(await poll(device, { ...factoryProvides, artifact_name: artifact.name })),
    },
  ];
}

const pendingDeploymentCases = defineScenario({
  area: 'next-deployment',
  name: 'A pending deployment',
  start: 'a device for which a deployment is pending',
  effect: 'write',
  needs: ['user'],
  arrange: pendingDeployment,
  cases: pollVariants.flatMap(pendingCases),
});

/** A device that has requested its deployment by that variant and been offered it. */
interface OfferToPoll extends DeviceInDeployment {
  readonly id: string;
}

async function offeredBy(
  { operation, poll }: PollVariant,
  context: TestContext,
): Promise<OfferToPoll> {
  const arranged = await pendingDeployment(context);
  const response = await requireOffer(context, operation, () =>
    poll(arranged.device, factoryProvides),
  );
  return { ...arranged, id: textIn(requireInstructions(response), 'id') };
}

function activeIn(variant: PollVariant) {
  const { operation, slug, label, poll, needs } = variant;
  return defineScenario({
    area: 'next-deployment',
    name: `Polling ${label} again`,
    start: `a device that has been offered a deployment by ${label}`,
    effect: 'write',
    needs: ['user', ...needs],
    arrange: (context) => offeredBy(variant, context),
    cases: [
      {
        id: `${slug}-changed-request-is-409`,
        title: `${label}: a device that describes itself differently during a deployment gets 409.`,
        requirements: ['next.conflict-is-409'],
        covers: [`${operation} 409`],
        run: async ({ device }) => {
          const changedProvides = { ...factoryProvides, artifact_name: 'conformance-changed' };
          expectStatus(await poll(device, changedProvides), 409);
        },
      },
      {
        id: `${slug}-changed-device-type-is-409`,
        title: `${label}: a device that names another type during a deployment gets 409.`,
        requirements: ['next.conflict-is-409'],
        run: async ({ device }) => {
          const changedProvides = { ...factoryProvides, device_type: 'conformance-changed' };
          expectStatus(await poll(device, changedProvides), 409);
        },
      },
      {
        id: `${slug}-polling-again-repeats`,
        title: `${label}: a device that polls again, for example after a reboot, gets the same deployment.`,
        requirements: ['next.repeatable'],
        run: async (arranged) => {
          await arrangeReports(arranged, 'rebooting');
          const response = await poll(arranged.device, factoryProvides);
          expectStatus(response, 200);
          const id = textIn(requireInstructions(response), 'id');
          expectThat(id === arranged.id, `the deployment ${arranged.id}`, `the deployment ${id}`);
        },
      },
    ],
  });
}

function overIn(
  status: 'success' | 'failure',
  { slug, label, poll, needs }: PollVariant,
): JudgingCase<OfferedDeployment> {
  return {
    id: `${slug}-after-${status}-offers-nothing`,
    title: `${label}: after the device has reported ${status}, the deployment is no longer offered.`,
    requirements: ['next.finished-is-over'],
    needs,
    run: async (arranged) => {
      await arrangeReports(arranged, status);
      expectNoOffer(await poll(arranged.device, factoryProvides));
    },
  };
}

const endingDeploymentCases = defineScenario({
  area: 'next-deployment',
  name: 'A deployment that ends',
  start: 'a device that has been offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: activeDeployment,
  cases: [
    ...pollVariants.flatMap((variant) => [overIn('success', variant), overIn('failure', variant)]),
    ...pollVariants.map(
      ({ slug, label, poll, needs }): JudgingCase<OfferedDeployment> => ({
        id: `${slug}-after-abort-offers-nothing`,
        title: `${label}: after a user has aborted the deployment, it is no longer offered.`,
        requirements: ['next.aborted-is-over'],
        needs,
        run: async (arranged, context) => {
          await arrangeAbort(context, arranged);
          expectNoOffer(await poll(arranged.device, factoryProvides));
        },
      }),
    ),
  ],
});

/** Spec: Device deployments v1, v2 */
export const nextDeploymentCases = [
  ...idle,
  ...pendingDeploymentCases,
  ...pollVariants.flatMap(activeIn),
  ...endingDeploymentCases,
];
