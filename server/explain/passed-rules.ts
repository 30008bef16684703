/** Lists the rules of the next deployment that a device passed before one of them failed. */
import type { NextRequest } from '../rules/next-deployment.ts';
import type { NoUpdateRule } from '../rules/no-update.ts';
import { labelOf, timeText } from '../rules/no-update-sentences.ts';
import type { StoredDeployment } from '../store/deployments.ts';

/** A rule that the device passed. */
interface PassedRule {
  readonly rule: string;
  readonly sentence: string;
}

type Sentence = (
  deployment: StoredDeployment,
  request: NextRequest | undefined,
) => string | undefined;

/**
 * The rules in the order of evaluation. Each has a sentence that stays true after the deployment
 * ends.
 */
const rules: readonly (readonly [NoUpdateRule, Sentence])[] = [
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
 * Returns the rules before `until`, or all rules without it. Returns none if the deployment was
 * over for the device.
 */
export function passedRules(
  until: NoUpdateRule | undefined,
  deployment: StoredDeployment | undefined,
  request: NextRequest | undefined,
): PassedRule[] {
  const end = until === undefined ? rules.length : rules.findIndex(([rule]) => rule === until);
  if (!deployment || end < 0) return [];
  return rules.slice(0, end).flatMap(([rule, sentenceOf]) => {
    const sentence = sentenceOf(deployment, request);
    return sentence === undefined ? [] : [{ rule, sentence }];
  });
}
