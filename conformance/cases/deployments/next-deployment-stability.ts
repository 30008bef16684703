/**
 * Cases: the properties of a deployment that stay fixed while it is active, and its state as users
 * see it. Spec: Device deployments v1, v2
 */
import { shownStatus } from '../../context/deployment-life.ts';
import { requireInstructions, textIn } from '../../context/instructions.ts';
import { ownArtifact } from '../../context/own-artifact.ts';
import { pollVariants } from '../../context/poll-variants.ts';
import {
  acceptedDevice,
  activeDeployment,
  type DeviceInDeployment,
  factoryProvides,
  pendingDeployment,
  requireResponse,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase, type ObservingCase } from '../../suite/case.ts';
import { expectStatus, NotObservable, observationOf } from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';

/** Content sizes that differ by more than a tar block, so that the file sizes differ too. */
const TINY_BYTES = 10;
const SMALL_BYTES = 4000;
const LARGE_BYTES = 9000;

/** A device that fits every artifact of a release. */
interface FittingDevice {
  readonly device: SuiteDevice;
  readonly release: string;
  readonly deploymentId: string;
  readonly smallId: string;
  readonly largeId: string;
}

const groups = { one: 'group-one', two: 'group-two', three: 'group-three' } as const;

/** The pairs that the device reports: one per group, so that each artifact depends on another. */
const provides = { ...factoryProvides, ...groups };

async function twoThatFit(context: TestContext): Promise<FittingDevice> {
  const device = await acceptedDevice(context);
  const name = context.newName();
  const upload = async (pair: keyof typeof groups, bytes: number): Promise<string> => {
    const content = context.random.bytes(bytes);
    const depends = { [pair]: [groups[pair]] };
    return (await ownArtifact(context, { name, content, depends })).id;
  };
  const largeId = await upload('one', LARGE_BYTES);
  const smallId = await upload('two', SMALL_BYTES);
  const { id } = await context.deploy({ artifact_name: name, devices: [device.id] });
  return { device, release: name, deploymentId: id, smallId, largeId };
}

/** Returns the ID of the artifact that the device is given. */
async function servedId(device: SuiteDevice): Promise<string> {
  const response = await device.call('post-next-deployment', { body: provides });
  requireResponse('post-next-deployment', response, 200);
  return textIn(requireInstructions(response), 'artifact.id');
}

const choosing = defineScenario({
  area: 'next-deployment',
  name: 'Several matching artifacts',
  start: 'a device with a pending release that has a large and a small matching artifact',
  effect: 'write',
  needs: ['user'],
  arrange: twoThatFit,
  cases: [
    {
      id: 'which-artifact-of-several',
      title: 'Which of two artifacts that match a device is offered.',
      requirements: ['next.which-artifact'],
      observe: async ({ device, smallId, largeId }) => {
        const label = { [smallId]: 'the smaller one', [largeId]: 'the larger one' };
        return observationOf(label[await servedId(device)] ?? 'an ID of neither');
      },
    },
    {
      id: 'artifact-that-comes-later',
      title: 'Whether a device in the middle of an update is offered an artifact uploaded since.',
      requirements: ['next.which-artifact'],
      observe: async ({ device, release, deploymentId }, context) => {
        const earlierId = await servedId(device);
        const depends = { three: [groups.three] };
        await ownArtifact(context, {
          name: release,
          content: context.random.bytes(TINY_BYTES),
          depends,
        });
        try {
          const isSame = (await servedId(device)) === earlierId;
          return observationOf(
            isSame ? 'the same artifact is offered' : 'another artifact is offered',
          );
        } finally {
          // Cleanup removes in reverse order, and an artifact in use cannot be removed.
          await context.admin.abort(deploymentId);
        }
      },
    },
  ],
});

/** Sends a request after which no update is offered, then reports what users see. */
function seenCase(
  id: string,
  facts: {
    readonly title: string;
    readonly poll: (arranged: DeviceInDeployment) => Promise<HttpResponse>;
    readonly expected: string;
  },
): ObservingCase<DeviceInDeployment> {
  return {
    id,
    title: facts.title,
    requirements: ['next.seen-by-users'],
    observe: async (arranged, context) => {
      const { status } = await facts.poll(arranged);
      const actualStatus = await shownStatus(context, arranged, facts.expected);
      const secondOffer = await arranged.device.call('post-next-deployment', {
        body: factoryProvides,
      });
      return observationOf(
        `answered with ${status}, users see ${actualStatus}, then it is ${secondOffer.status}`,
      );
    },
  };
}

const seenPollCases = defineScenario({
  area: 'next-deployment',
  name: 'Polls that users see',
  start: 'a device for which a deployment is pending',
  effect: 'write',
  needs: ['user'],
  arrange: pendingDeployment,
  cases: [
    seenCase('users-see-an-installed-artifact', {
      title: 'What users see of a device that reports the artifact as installed.',
      poll: ({ device, artifact }) => {
        const body = { ...factoryProvides, artifact_name: artifact.name };
        return device.call('post-next-deployment', { body });
      },
      expected: 'already-installed',
    }),
    seenCase('users-see-an-unfit-device', {
      title: 'What users see of a device that no artifact of the release matches.',
      poll: ({ device }) => {
        const body = { ...factoryProvides, device_type: 'another-board' };
        return device.call('post-next-deployment', { body });
      },
      expected: 'noartifact',
    }),
    {
      id: 'half-a-letter-in-a-device-type',
      title: 'How a device type with half of a surrogate pair is answered.',
      requirements: ['next.half-letters'],
      observe: async ({ device }) => {
        const body = { ...factoryProvides, device_type: '\ud800' };
        const { status } = await device.call('post-next-deployment', { body });
        return observationOf(`answered with ${status}`);
      },
    },
  ],
});

const inProgress = defineScenario({
  area: 'next-deployment',
  name: 'Repeated requests',
  start: 'a device that has been offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: activeDeployment,
  cases: [
    seenCase('users-see-a-conflict', {
      title: 'What users see of a device that describes itself differently during a deployment.',
      poll: ({ device }) => {
        const body = { ...factoryProvides, artifact_name: 'conformance-changed' };
        return device.call('post-next-deployment', { body });
      },
      expected: 'failure',
    }),
  ],
});

const reordered = defineScenario({
  area: 'next-deployment',
  name: 'The same pairs in another order',
  start: 'a device for which a deployment is pending',
  effect: 'write',
  needs: ['user'],
  arrange: pendingDeployment,
  cases: pollVariants.map(
    ({ slug, label, needs, poll }): JudgingCase<DeviceInDeployment> => ({
      id: `${slug}-order-of-pairs-does-not-matter`,
      title: `${label}: the same pairs in another order get the same deployment.`,
      requirements: ['next.order-of-pairs'],
      needs,
      run: async ({ device }) => {
        const pairs = Object.entries({ ...factoryProvides, alpha: 'a', omega: 'o' });
        // GET may reject pairs that it does not know, and other cases cover repeated requests.
        for (const time of ['the first poll', 'the second poll']) {
          const { status } = await poll(device, Object.fromEntries(pairs));
          if (status !== 200) throw new NotObservable(`${time} was answered with ${status}`);
        }
        for (const turned of [pairs.toReversed(), [...pairs.slice(2), ...pairs.slice(0, 2)]]) {
          expectStatus(await poll(device, Object.fromEntries(turned)), 200);
        }
      },
    }),
  ),
});

/** Spec: Device deployments v1, v2 */
export const nextDeploymentStabilityCases = [
  ...choosing,
  ...seenPollCases,
  ...inProgress,
  ...reordered,
];
