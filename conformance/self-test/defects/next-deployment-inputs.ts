/** Defects in the requests for the next deployment. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { objectOf, ownResponse, queryOf } from '../alter.ts';
import { responseBecomes, statusBecomes } from '../alterations.ts';
import type { Defect } from '../defect.ts';
import {
  bodyMemberAt,
  both,
  isBodiless,
  isNoObject,
  isObject,
  isText,
  memberDoesNotFit,
  memberEquals,
  memberIsMissing,
  type RequestFilter,
} from '../sent.ts';

type PollOperation = 'get-next-deployment' | 'post-next-deployment' | 'post-next-deployment-v2';

/** A defect: a request that must be refused is answered as if there were no update. */
function taken(
  form: PollOperation,
  [what, requirement]: readonly [string, RequirementId],
  picks: RequestFilter,
): Defect {
  return {
    id: `${form}-takes-${what.replaceAll(' ', '-')}`,
    title: `A request for the next deployment by ${form} with ${what} is not refused.`,
    violates: [requirement],
    operations: [form],
    alter: statusBecomes(400, 204, picks),
  };
}

/** A defect: a valid request is refused. */
function refused(
  form: PollOperation,
  [what, requirement]: readonly [string, RequirementId],
  picks: RequestFilter,
): Defect {
  return {
    id: `${form}-refuses-${what.replaceAll(' ', '-')}`,
    title: `A request for the next deployment by ${form} with ${what} is refused.`,
    violates: [requirement],
    operations: [form],
    alter: responseBecomes(
      (response) => (response.status === 204 ? ownResponse(400, { error: 'no' }) : response),
      picks,
    ),
  };
}

const v1 = 'post-next-deployment';
const v2 = 'post-next-deployment-v2';
const own = { [v1]: '', [v2]: 'device_provides.' } as const;
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isMissingOrText = (value: unknown): boolean => value === undefined || isText(value);

/** Matches bodies of the suite's input tables, by their artifact name. */
function isInput(form: keyof typeof own): RequestFilter {
  return memberEquals(`${own[form]}artifact_name`, 'conformance-input');
}

/** Matches bodies with a free pair that is not a string. */
function hasOtherPair(form: keyof typeof own): RequestFilter {
  return (request) => {
    const pairs = form === v1 ? objectOf(request) : bodyMemberAt(request, 'device_provides');
    return isObject(pairs) && !isMissingOrText(pairs.colour);
  };
}

export const nextDeploymentInputDefects: readonly Defect[] = [
  taken(
    'get-next-deployment',
    ['no artifact name', 'next.get-artifact-name'],
    (request) => !queryOf(request).has('artifact_name'),
  ),
  taken(
    'get-next-deployment',
    ['no device type', 'next.get-device-type'],
    (request) => !queryOf(request).has('device_type'),
  ),
  refused('get-next-deployment', ['letters of other scripts', 'next.get-parameters'], (request) =>
    /[^\0-\x7f]/.test(queryOf(request).get('device_type') ?? ''),
  ),
  taken(v1, ['no body', 'next.post-body'], isBodiless),
  taken(v1, ['a body that is no object', 'next.post-body'], isNoObject),
  taken(v1, ['no artifact name', 'next.post-artifact-name'], memberIsMissing('artifact_name')),
  taken(v1, ['no device type', 'next.post-device-type'], memberIsMissing('device_type')),
  taken(
    v1,
    ['an artifact name of another type', 'next.post-artifact-name-is-a-text'],
    memberDoesNotFit('artifact_name', isText),
  ),
  taken(
    v1,
    ['a device type of another type', 'next.post-device-type-is-a-text'],
    memberDoesNotFit('device_type', isText),
  ),
  taken(v1, ['a pair of another type', 'next.post-values-are-texts'], hasOtherPair(v1)),
  refused(
    v1,
    ['its two keys only', 'next.post-keys'],
    both(isInput(v1), memberIsMissing('colour')),
  ),
  refused(
    v1,
    ['a free pair', 'next.free-pairs'],
    both(isInput(v1), memberEquals('colour', 'text')),
  ),
  taken(v2, ['no body', 'next.v2-body'], isBodiless),
  taken(v2, ['a body that is no object', 'next.v2-body'], isNoObject),
  taken(v2, ['no provides', 'next.v2-fields'], memberIsMissing('device_provides')),
  taken(
    v2,
    ['provides of another type', 'next.v2-types'],
    memberDoesNotFit('device_provides', isObject),
  ),
  taken(
    v2,
    ['no artifact name', 'next.v2-provides-artifact-name'],
    memberIsMissing('device_provides.artifact_name'),
  ),
  taken(
    v2,
    ['no device type', 'next.v2-provides-device-type'],
    memberIsMissing('device_provides.device_type'),
  ),
  taken(
    v2,
    ['an artifact name of another type', 'next.v2-provides-artifact-name-is-a-text'],
    memberDoesNotFit('device_provides.artifact_name', isText),
  ),
  taken(
    v2,
    ['a device type of another type', 'next.v2-provides-device-type-is-a-text'],
    memberDoesNotFit('device_provides.device_type', isText),
  ),
  taken(v2, ['a pair of another type', 'next.v2-values-are-texts'], hasOtherPair(v2)),
  taken(
    v2,
    ['a flag of another type', 'next.v2-flag-is-a-boolean'],
    memberDoesNotFit('update_control_map', isBoolean),
  ),
  refused(
    v2,
    ['its two keys only', 'next.v2-keys'],
    both(isInput(v2), memberIsMissing('device_provides.colour')),
  ),
  refused(
    v2,
    ['no flag', 'next.v2-keys'],
    both(isInput(v2), memberIsMissing('update_control_map')),
  ),
  refused(
    v2,
    ['a free pair', 'next.v2-free-pairs'],
    both(isInput(v2), memberEquals('device_provides.colour', 'text')),
  ),
  refused(
    v2,
    ['a flag that is true', 'next.v2-flag'],
    both(isInput(v2), memberEquals('update_control_map', true)),
  ),
];
