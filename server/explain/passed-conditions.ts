/** Lists the conditions of the next deployment that a device passed before one of them failed. */
import type { NextRequest } from '../rules/next-deployment.ts';
import type { NoUpdateCondition } from '../rules/no-update.ts';
import { labelOf, timeText } from '../rules/no-update-sentences.ts';
import type { StoredDeployment } from '../store/deployments.ts';

/** A condition that the device passed. */
interface PassedCondition {
  readonly condition: string;
  readonly sentence: string;
}

type Sentence = (
  deployment: StoredDeployment,
  request: NextRequest | undefined,
) => string | undefined;

/**
 * The conditions in the order of evaluation. Each has a sentence that stays true after the deployment
 * ends.
 */
const conditions: readonly (readonly [NoUpdateCondition, Sentence])[] = [
  ['deployment', (deployment) => `${labelOf(deployment)} includes the device`],
  ['start', ({ createdMs }) => `it started at ${timeText(createdMs)}`],
  ['phase', ({ phases }) => phases && 'its phases allow the device to begin'],
  [
    'max-devices',
    ({ maxDevices }) => (maxDevices === undefined ? undefined : 'its device limit is not reached'),
  ],
  ['artifact', ({ type }) => (type === 'software' ? 'it has artifacts' : undefined)],
  [
    'device-type',
    ({ type }, request) =>
      request && type === 'software'
        ? `one is compatible with device type ${request.deviceType}`
        : undefined,
  ],
  [
    'depends',
    ({ type }, request) =>
      request && type === 'software' ? 'the device meets its dependencies' : undefined,
  ],
  [
    'already-installed',
    (_, request) => request && `the device has ${request.artifactName} installed`,
  ],
];

/**
 * Returns the conditions before `until`, or all conditions without it. Returns none if the device
 * had finished the deployment.
 */
export function passedConditions(
  until: NoUpdateCondition | undefined,
  deployment: StoredDeployment | undefined,
  request: NextRequest | undefined,
): PassedCondition[] {
  const end =
    until === undefined
      ? conditions.length
      : conditions.findIndex(([condition]) => condition === until);
  if (!deployment || end < 0) return [];
  return conditions.slice(0, end).flatMap(([condition, sentenceOf]) => {
    const sentence = sentenceOf(deployment, request);
    return sentence === undefined ? [] : [{ condition, sentence }];
  });
}
