/** Defects in the requests for the next deployment. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { objectOf, ownResponse, queryOf } from '../alter.ts';
import { responseBecomes, sentFieldBecomes, statusBecomes } from '../alterations.ts';
import type { Defect } from '../defect.ts';
import {
  allOf,
  bodyMemberAt,
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
function acceptedRequest(
  poll: PollOperation,
  [what, requirement]: readonly [string, RequirementId],
  appliesTo: RequestFilter,
): Defect {
  return {
    id: `${poll}-takes-${what.replaceAll(' ', '-')}`,
    title: `A request for the next deployment by ${poll} with ${what} is not refused.`,
    violates: [requirement],
    operations: [poll],
    alter: statusBecomes(400, 204, appliesTo),
  };
}

/** A defect: a valid request is refused. */
function refusesValid(
  poll: PollOperation,
  [what, requirement]: readonly [string, RequirementId],
  appliesTo: RequestFilter,
): Defect {
  return {
    id: `${poll}-refuses-${what.replaceAll(' ', '-')}`,
    title: `A request for the next deployment by ${poll} with ${what} is refused.`,
    violates: [requirement],
    operations: [poll],
    alter: responseBecomes(
      (response) => (response.status === 204 ? ownResponse(400, { error: 'no' }) : response),
      appliesTo,
    ),
  };
}

const v1 = 'post-next-deployment';
const v2 = 'post-next-deployment-v2';
const memberPrefixes = { [v1]: '', [v2]: 'device_provides.' } as const;
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isMissingOrText = (value: unknown): boolean => value === undefined || isText(value);

/** Matches bodies of the suite's input tables, by their artifact name. */
function isInput(poll: keyof typeof memberPrefixes): RequestFilter {
  return memberEquals(`${memberPrefixes[poll]}artifact_name`, 'conformance-input');
}

/** Matches bodies with a free pair that is not a string. */
function hasOtherPair(poll: keyof typeof memberPrefixes): RequestFilter {
  return (request) => {
    const pairs = poll === v1 ? objectOf(request) : bodyMemberAt(request, 'device_provides');
    return isObject(pairs) && !isMissingOrText(pairs.colour);
  };
}

export const nextDeploymentInputDefects: readonly Defect[] = [
  acceptedRequest(
    'get-next-deployment',
    ['no artifact name', 'next.get-artifact-name'],
    (request) => !queryOf(request).has('artifact_name'),
  ),
  acceptedRequest(
    'get-next-deployment',
    ['no device type', 'next.get-device-type'],
    (request) => !queryOf(request).has('device_type'),
  ),
  refusesValid(
    'get-next-deployment',
    ['letters of other scripts', 'next.get-parameters'],
    (request) => /[^\0-\x7f]/.test(queryOf(request).get('device_type') ?? ''),
  ),
  acceptedRequest(v1, ['no body', 'next.post-body'], isBodiless),
  acceptedRequest(v1, ['a body that is no object', 'next.post-body'], isNoObject),
  acceptedRequest(
    v1,
    ['no artifact name', 'next.post-artifact-name'],
    memberIsMissing('artifact_name'),
  ),
  acceptedRequest(v1, ['no device type', 'next.post-device-type'], memberIsMissing('device_type')),
  acceptedRequest(
    v1,
    ['an artifact name of another type', 'next.post-artifact-name-is-string'],
    memberDoesNotFit('artifact_name', isText),
  ),
  acceptedRequest(
    v1,
    ['a device type of another type', 'next.post-device-type-is-string'],
    memberDoesNotFit('device_type', isText),
  ),
  acceptedRequest(v1, ['a pair of another type', 'next.post-values-are-strings'], hasOtherPair(v1)),
  refusesValid(
    v1,
    ['its two keys only', 'next.post-keys'],
    allOf(isInput(v1), memberIsMissing('colour')),
  ),
  refusesValid(
    v1,
    ['a free pair', 'next.free-pairs'],
    allOf(isInput(v1), memberEquals('colour', 'text')),
  ),
  acceptedRequest(v2, ['no body', 'next.v2-body'], isBodiless),
  acceptedRequest(v2, ['a body that is no object', 'next.v2-body'], isNoObject),
  acceptedRequest(v2, ['no provides', 'next.v2-fields'], memberIsMissing('device_provides')),
  acceptedRequest(
    v2,
    ['provides of another type', 'next.v2-types'],
    memberDoesNotFit('device_provides', isObject),
  ),
  acceptedRequest(
    v2,
    ['no artifact name', 'next.v2-provides-artifact-name'],
    memberIsMissing('device_provides.artifact_name'),
  ),
  acceptedRequest(
    v2,
    ['no device type', 'next.v2-provides-device-type'],
    memberIsMissing('device_provides.device_type'),
  ),
  acceptedRequest(
    v2,
    ['an artifact name of another type', 'next.v2-provides-artifact-name-is-string'],
    memberDoesNotFit('device_provides.artifact_name', isText),
  ),
  acceptedRequest(
    v2,
    ['a device type of another type', 'next.v2-provides-device-type-is-string'],
    memberDoesNotFit('device_provides.device_type', isText),
  ),
  acceptedRequest(v2, ['a pair of another type', 'next.v2-values-are-strings'], hasOtherPair(v2)),
  acceptedRequest(
    v2,
    ['a flag of another type', 'next.v2-flag-is-a-boolean'],
    memberDoesNotFit('update_control_map', isBoolean),
  ),
  refusesValid(
    v2,
    ['its two keys only', 'next.v2-keys'],
    allOf(isInput(v2), memberIsMissing('device_provides.colour')),
  ),
  refusesValid(
    v2,
    ['no flag', 'next.v2-keys'],
    allOf(isInput(v2), memberIsMissing('update_control_map')),
  ),
  refusesValid(
    v2,
    ['a free pair', 'next.v2-free-pairs'],
    allOf(isInput(v2), memberEquals('device_provides.colour', 'text')),
  ),
  refusesValid(
    v2,
    ['a flag that is true', 'next.v2-flag'],
    allOf(isInput(v2), memberEquals('update_control_map', true)),
  ),
  {
    id: 'v2-flag-may-be-a-word',
    title: 'POST v2 with the string true as update_control_map is accepted.',
    violates: ['next.v2-flag-is-a-boolean'],
    operations: [v2],
    alter: sentFieldBecomes('update_control_map', (flag) => (flag === 'true' ? true : flag)),
  },
];
