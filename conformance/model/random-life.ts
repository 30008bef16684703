/**
 * Cases: random sequences of valid and invalid steps behave as the contract's model says.
 * Spec: States and transitions; Endpoints
 */
import fc from 'fast-check';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { reportableStatuses } from '../../fixtures/contract/vocabulary.ts';
import { pollVariants } from '../context/poll-variants.ts';
import { StartStateNotReached } from '../context/start-states.ts';
import type { TestContext } from '../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../suite/case.ts';
import { ExpectationFailure, observationOf } from '../target/expectations.ts';
import * as authentication from './authentication-steps.ts';
import * as deployment from './deployment-steps.ts';
import { attributeNames, configurationKeys, DEVICES, type StartState } from './expected-state.ts';
import { runRandomSequences, type SequenceOptions } from './random-sequences.ts';
import type { ModelStep } from './step.ts';
import * as store from './store-steps.ts';

const device = fc.nat({ max: DEVICES - 1 });
/** The first deployment is used more often than the others. */
const deploymentIndex = fc.constantFrom(0, 0, 0, 1, 1, 2);
const methods = fc.constantFrom('PATCH' as const, 'PUT' as const);

const invalidStatuses = ['aborted', 'done', 'Success', '', null, 7, ['success']];

const identitySteps: readonly fc.Arbitrary<ModelStep>[] = [
  device.map(authentication.authenticateStep),
  device.map(authentication.forgedSignatureStep),
  device.map(authentication.preauthorizeStep),
  device.map(authentication.acceptStep),
  device.map(authentication.rejectStep),
  device.map(authentication.decommissionStep),
  fc
    .tuple(device, fc.boolean())
    .map(([index, withToken]) => authentication.callStep(index, withToken)),
];

const pollSteps = fc
  .tuple(device, fc.constantFrom(...pollVariants))
  .map(([index, variant]) => deployment.pollStep(index, variant));
const reportSteps = fc
  .tuple(device, deploymentIndex, fc.constantFrom(...reportableStatuses))
  .map(([index, number, status]) => deployment.reportStep(index, number, status));

/** Requesting and reporting are listed twice, since they advance a deployment. */
const deploymentSteps: readonly fc.Arbitrary<ModelStep>[] = [
  device.map(deployment.deployStep),
  deploymentIndex.map(deployment.abortStep),
  pollSteps,
  pollSteps,
  reportSteps,
  reportSteps,
  fc
    .tuple(device, deploymentIndex, fc.constantFrom(...invalidStatuses))
    .map(([index, number, status]) => deployment.reportInvalidStatusStep(index, number, status)),
  deploymentIndex.map(deployment.readDeploymentStatusStep),
  fc
    .tuple(device, deploymentIndex, fc.constantFrom('began', 'went on', 'ended'))
    .map(([index, number, text]) => deployment.uploadLogStep(index, number, text)),
  deploymentIndex.map(deployment.readLogStep),
];

const pairs = fc.dictionary(
  fc.constantFrom(...configurationKeys),
  fc.constantFrom('one', 'two', 'three', ''),
  { minKeys: 1, maxKeys: 2, noNullPrototype: true },
);
const filledPairs = fc.dictionary(
  fc.constantFrom(...configurationKeys),
  fc.constantFrom('four', 'five'),
  { minKeys: 1, maxKeys: 2, noNullPrototype: true },
);
const attributes = fc.dictionary(
  fc.constantFrom(...attributeNames),
  fc.constantFrom<number | string | number[] | string[]>(1, 2.5, 'north', [3, 4], ['slow']),
  { minKeys: 1, maxKeys: 2, noNullPrototype: true },
);

const storeSteps: readonly fc.Arbitrary<ModelStep>[] = [
  fc.tuple(device, pairs).map(([index, newPairs]) => store.configureStep(index, newPairs)),
  fc
    .tuple(device, fc.constantFrom<unknown>(7, true, null, ['one'], {}))
    .map(([index, value]) => store.configureInvalidValueStep(index, 'colour', value)),
  fc
    .tuple(device, filledPairs)
    .map(([index, newPairs]) => store.configureByUserStep(index, newPairs)),
  device.map(store.readConfigurationStep),
  device.map(store.readConfigurationStep),
  fc
    .tuple(device, methods, attributes)
    .map(([index, method, newAttributes]) =>
      store.writeAttributesStep(index, method, newAttributes),
    ),
  fc
    .tuple(device, methods, fc.constantFrom<unknown>(true, null, {}, [1, 'two'], [[1]]))
    .map(([index, method, value]) => store.writeInvalidAttributeStep(index, method, value)),
  device.map(store.readDeviceStep),
];

const monitorSteps: readonly fc.Arbitrary<ModelStep>[] = [
  fc
    .tuple(device, fc.constantFrom('OK', 'CRITICAL', 'ok', 'WARNING', ''))
    .map(([index, level]) => store.sendAlertStep(index, level)),
];

const identityRequirements = [
  'auth.first-contact-is-401',
  'auth.undecided-is-401',
  'auth.accepted-gets-token',
  'auth.rejected-is-refused',
  'auth.preauthorized-gets-token',
  'auth.token-is-plain-text',
  'auth.signature-must-verify',
  'tokens.missing-is-401',
  'tokens.renewal',
  'tokens.end-with-acceptance',
] as const satisfies readonly RequirementId[];

const deploymentRequirements = [
  'next.nothing-is-204',
  'next.get-pending-is-200',
  'next.post-pending-is-200',
  'next.v2-pending-is-200',
  'next.instructions-v1',
  'next.v1-id',
  'next.instructions-v2',
  'next.v2-id',
  'next.v2-id-is-usable',
  'next.id-of-the-deployment',
  'next.own-deployments-only',
  'next.repeatable',
  'next.finished-is-over',
  'next.aborted-is-over',
  'status.each-value-is-accepted',
  'status.becomes-the-state',
  'status.repeated',
  'status.intermediate-is-optional',
  'status.other-values-are-400',
  'status.is-string',
  'status.foreign-deployment-is-404',
  'status.aborted-is-409',
  'status.aborted-stays',
  'log.is-accepted',
  'log.is-kept',
  'log.is-replaced',
  'log.foreign-deployment-is-404',
] as const satisfies readonly RequirementId[];

const storeRequirements = [
  'configuration.read',
  'configuration.write',
  'configuration.update',
  'configuration.empty-removes',
  'configuration.values-are-strings',
  'configuration.set-by-user',
  'configuration.remove-unknown',
  ...store.valueRequirements,
  'inventory.patch-is-200',
  'inventory.put-is-200',
  'inventory.other-kinds-are-400',
  'inventory.mixed-arrays-are-400',
  'inventory.value',
  ...store.attributeRequirements,
] as const satisfies readonly RequirementId[];

/** An arbitrary fixed seed, so that the observations of runs can be compared. */
const OBSERVATIONS_SEED = 1;

const unknownStart = fc.constant<StartState>('unknown');
const acceptedStart = fc.constant<StartState>('accepted');
const anyStart = fc.constantFrom<StartState>('accepted', 'accepted', 'unknown');

interface RandomLife extends SequenceOptions {
  readonly id: string;
  readonly title: string;
  readonly requirements: readonly [RequirementId, ...RequirementId[]];
}

const lives: readonly RandomLife[] = [
  {
    id: 'random-decisions-agree-with-the-contract',
    title:
      'Whatever users decide about three devices, each is refused or accepted as the contract says.',
    requirements: identityRequirements,
    starts: unknownStart,
    steps: identitySteps,
    sequences: 4,
  },
  {
    id: 'random-deployments-agree-with-the-contract',
    title: 'Whatever three devices request and report, each deployment is in the resulting state.',
    requirements: deploymentRequirements,
    starts: acceptedStart,
    steps: deploymentSteps,
    sequences: 4,
  },
  {
    id: 'random-stores-agree-with-the-contract',
    title: 'Whatever three devices write, each reads what it wrote and nothing of the other.',
    requirements: storeRequirements,
    starts: acceptedStart,
    steps: storeSteps,
    sequences: 4,
  },
  {
    id: 'random-life-agrees-with-the-contract',
    title:
      'Whatever three devices and a user do, valid or not, each response is allowed by the contract.',
    requirements: [
      ...identityRequirements,
      ...deploymentRequirements,
      ...storeRequirements,
      'alerts.are-accepted',
      'alerts.level-ok',
      'alerts.level-critical',
      'alerts.levels',
    ],
    starts: anyStart,
    steps: [...identitySteps, ...deploymentSteps, ...storeSteps, ...monitorSteps],
    sequences: 4,
  },
];

/**
 * Runs random sequences. If the violated requirements are not among those of the case, another case
 * judges them, and this one throws StartStateNotReached.
 */
async function runAndJudgeSequences(context: TestContext, life: RandomLife): Promise<void> {
  try {
    await runRandomSequences(context, life);
  } catch (error) {
    if (!(error instanceof ExpectationFailure)) throw error;
    const caseViolations = error.violated?.filter((id) => life.requirements.includes(id)) ?? [];
    if (caseViolations.length === 0)
      throw new StartStateNotReached(error.expected, `got ${error.actual}`);
    throw new ExpectationFailure(error.expected, error.actual, caseViolations);
  }
}

function lifeCase(life: RandomLife): JudgingCase<TestContext> {
  const { id, title, requirements } = life;
  return { id, title, requirements, run: (context) => runAndJudgeSequences(context, life) };
}

export const modelCases = defineScenario({
  area: 'model',
  name: 'Random lives',
  start: 'three devices, with random steps of the devices and a user',
  effect: 'write',
  order: 'first',
  needs: ['user'],
  arrange: (context) => context,
  cases: [
    ...lives.map(lifeCase),
    {
      id: 'readings-of-random-lives',
      title: 'What the target does in random deployments where the contract is silent.',
      requirements: ['status.transitions', 'next.oldest-first'],
      observe: async (context) => {
        const steps = [...deploymentSteps];
        const options = { starts: acceptedStart, steps, sequences: 2, seed: OBSERVATIONS_SEED };
        const observations = await runRandomSequences(context, options);
        const lines = [...observations].map(
          ([matter, values]) => `${matter}: ${[...values].join(', ')}`,
        );
        return observationOf(lines.sort().join('; ') || 'nothing of this kind occurred');
      },
    },
  ],
});
