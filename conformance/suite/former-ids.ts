/**
 * The former ids of cases that were renamed. Results, waivers and selections that name one mean the
 * case of today.
 */
const formerIds: Readonly<Record<string, string>> = {
  'artifact-link/expire-is-still-to-come': 'artifact-link/expire-is-in-the-future',
  'artifact-link/last-modified-is-told': 'artifact-link/last-modified-is-sent',
  'artifact-link/strangers-get-no-link': 'artifact-link/unauthenticated-is-401',
  'artifacts/signed-is-told': 'artifacts/signed-is-true-for-a-signed-file',
  'artifacts/unsigned-is-told': 'artifacts/signed-is-false-for-an-unsigned-file',
  'artifacts/strangers-see-no-artifacts': 'artifacts/unauthenticated-is-401',
  'audit-log/acts-without-a-word-of-their-own': 'audit-log/actions-outside-the-vocabulary',
  'authentication/identity-in-other-letters-is-another':
    'authentication/identity-in-other-case-is-another',
  'authentication/letters-are-signed-as-utf-8': 'authentication/non-ascii-is-signed-as-utf-8',
  'authentication/signature-in-other-letters-is-refused':
    'authentication/signature-in-other-case-is-refused',
  'authentication-races/accept-meets-decommission':
    'authentication-races/accept-and-decommission-at-once',
  'authentication-races/accept-meets-requests': 'authentication-races/accept-and-requests-at-once',
  'authentication-races/decommission-meets-requests':
    'authentication-races/decommission-and-requests-at-once',
  'configuration/keys-in-other-letters-are-others': 'configuration/keys-in-other-case-are-others',
  'configuration-download/device-type-in-other-letters-is-403':
    'configuration-download/device-type-in-other-case-is-403',
  'configuration-download/signature-in-other-letters-is-403':
    'configuration-download/signature-in-other-case-is-403',
  'faults/haste-without-a-token': 'faults/limit-without-a-token',
  'inventory/names-in-other-letters-are-others': 'inventory/names-in-other-case-are-others',
  'inventory/patch-of-strangers-is-401': 'inventory/patch-unauthenticated-is-401',
  'inventory/patch-to-nothing-much': 'inventory/patch-to-zero-or-empty',
  'inventory/put-of-strangers-is-401': 'inventory/put-unauthenticated-is-401',
  'inventory/scope-in-the-body-is-no-way-in': 'inventory/scope-identity-changes-no-identity',
  'inventory/value-of-another-kind': 'inventory/value-changes-its-type',
  'legal-forms/three-times': 'legal-forms/repeated-requests-have-the-same-effect',
  'monitor/strangers-send-no-alerts': 'monitor/alerts-unauthenticated-is-401',
  'monitor/strangers-send-no-configuration': 'monitor/configuration-unauthenticated-is-401',
  'next-deployment/depends-in-other-letters-offers-nothing':
    'next-deployment/depends-in-other-case-offers-nothing',
  'next-deployment/v2-depends-in-other-letters-offers-nothing':
    'next-deployment/v2-depends-in-other-case-offers-nothing',
  'update-control-map/given-id-gives-way-to-that-of-the-deployment':
    'update-control-map/id-is-that-of-the-deployment',
  'update-control-map/is-there-in-mid-update': 'update-control-map/is-available-during-the-update',
  'update-control-map/none-in-instructions': 'update-control-map/instructions-without-a-map',
  'update-control-map/second-place': 'update-control-map/map-in-a-second-place',
  'update-control-map/unasked': 'update-control-map/map-for-a-device-without-support',
};

/** Returns the present id of a case; the given one if it was not renamed. */
export function presentId(id: string): string {
  return formerIds[id] ?? id;
}

/** Every former id. */
export const renamedIds: readonly string[] = Object.keys(formerIds);
