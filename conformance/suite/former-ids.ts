/**
 * The former ids of cases, and of duties of a client, that were renamed. Results, waivers and
 * selections that name one mean the case or the duty of today.
 */
const formerIds: Readonly<Record<string, string>> = {
  'artifact-link/expire-is-still-to-come': 'artifact-link/expire-is-in-the-future',
  'artifact-link/last-modified-is-told': 'artifact-link/last-modified-is-sent',
  'artifact-link/strangers-get-no-link': 'artifact-link/unauthenticated-is-401',
  'artifacts/depends-of-a-text-are-a-list': 'artifacts/depends-of-a-string-are-an-array',
  'artifacts/depends-of-a-text-are-met': 'artifacts/depends-of-a-string-are-met',
  'artifacts/depends-of-a-text-are-met-as-a-whole':
    'artifacts/depends-of-a-string-are-met-as-a-whole',
  'artifacts/description-is-a-text': 'artifacts/description-is-string',
  'artifacts/form-texts-of-every-kind': 'artifacts/form-strings-of-every-kind',
  'artifacts/signed-is-told': 'artifacts/signed-is-true-for-a-signed-file',
  'artifacts/strangers-see-no-artifacts': 'artifacts/unauthenticated-is-401',
  'artifacts/unsigned-is-told': 'artifacts/signed-is-false-for-an-unsigned-file',
  'audit-log/acts-without-a-word-of-their-own': 'audit-log/actions-outside-the-vocabulary',
  'auth.keeps-asking': 'auth.repeats-until-accepted',
  'authentication-races/accept-meets-decommission':
    'authentication-races/accept-and-decommission-at-once',
  'authentication-races/accept-meets-requests': 'authentication-races/accept-and-requests-at-once',
  'authentication-races/decommission-meets-requests':
    'authentication-races/decommission-and-requests-at-once',
  'authentication/id-data-that-is-no-json-is-400': 'authentication/id-data-that-is-not-json-is-400',
  'authentication/identity-in-other-letters-is-another':
    'authentication/identity-in-other-case-is-another',
  'authentication/letters-are-signed-as-utf-8': 'authentication/non-ascii-is-signed-as-utf-8',
  'authentication/signature-in-other-letters-is-refused':
    'authentication/signature-in-other-case-is-refused',
  'body-fields/patch-attributes-keeps-every-text':
    'body-fields/patch-attributes-keeps-every-string',
  'body-fields/post-alerts-keeps-every-text': 'body-fields/post-alerts-keeps-every-string',
  'body-fields/post-monitor-configuration-keeps-every-text':
    'body-fields/post-monitor-configuration-keeps-every-string',
  'body-fields/put-attributes-keeps-every-text': 'body-fields/put-attributes-keeps-every-string',
  'body-fields/put-deployment-log-keeps-every-text':
    'body-fields/put-deployment-log-keeps-every-string',
  'body-fields/put-deployment-status-keeps-every-text':
    'body-fields/put-deployment-status-keeps-every-string',
  'configuration-download/device-type-in-other-letters-is-403':
    'configuration-download/device-type-in-other-case-is-403',
  'configuration-download/signature-in-other-letters-is-403':
    'configuration-download/signature-in-other-case-is-403',
  'configuration/any-text-is-kept': 'configuration/any-string-is-kept',
  'configuration/keys-in-other-letters-are-others': 'configuration/keys-in-other-case-are-others',
  'configuration/long-texts': 'configuration/long-strings',
  'configuration/read-values-are-texts': 'configuration/read-values-are-strings',
  'connect/accept-answers-the-key': 'connect/accept-matches-the-key',
  'connect/answer-names-the-upgrade': 'connect/response-names-the-upgrade',
  'connect/answer-names-websocket': 'connect/response-names-websocket',
  'connect/fragments-are-taken': 'connect/fragments-are-accepted',
  'connect/no-extension-unasked': 'connect/no-extension-unrequested',
  'connect/no-subprotocol-unasked': 'connect/no-subprotocol-unrequested',
  'connect/unasked-pong-does-no-harm': 'connect/unsolicited-pong-does-no-harm',
  'deployment-log/any-level-is-taken': 'deployment-log/any-level-is-accepted',
  'deployment-log/any-message-is-taken': 'deployment-log/any-message-is-accepted',
  'deployment-log/any-text-as-timestamp-is-400': 'deployment-log/any-string-as-timestamp-is-400',
  'deployment-log/date-time-as-timestamp-is-taken':
    'deployment-log/date-time-as-timestamp-is-accepted',
  'deployment-log/upload-after-failure-is-taken':
    'deployment-log/upload-after-each-status-is-accepted',
  'deployment-log/upload-after-success-is-taken':
    'deployment-log/upload-after-each-status-is-accepted',
  'deployment-states/end-of-one-device-leaves-one-that-has-not-asked':
    'deployment-states/end-of-one-device-leaves-one-that-has-not-polled',
  'deployment-status/already-installed-is-taken': 'deployment-status/already-installed-is-accepted',
  'deployment-status/downloading-is-taken': 'deployment-status/downloading-is-accepted',
  'deployment-status/failure-is-taken': 'deployment-status/failure-is-accepted',
  'deployment-status/installing-is-taken': 'deployment-status/installing-is-accepted',
  'deployment-status/missing-substate-is-taken': 'deployment-status/missing-substate-is-accepted',
  'deployment-status/other-text-as-status-is-400':
    'deployment-status/other-string-as-status-is-400',
  'deployment-status/pause-before-committing-is-taken':
    'deployment-status/pause-before-committing-is-accepted',
  'deployment-status/pause-before-installing-is-taken':
    'deployment-status/pause-before-installing-is-accepted',
  'deployment-status/pause-before-rebooting-is-taken':
    'deployment-status/pause-before-rebooting-is-accepted',
  'deployment-status/rebooting-is-taken': 'deployment-status/rebooting-is-accepted',
  'deployment-status/report-before-asking': 'deployment-status/report-before-the-first-poll',
  'deployment-status/report-before-asking-after-an-abort':
    'deployment-status/report-before-the-first-poll-after-an-abort',
  'deployment-status/substate-is-taken': 'deployment-status/substate-is-accepted',
  'deployment-status/success-is-taken': 'deployment-status/success-is-accepted',
  'errors/error-is-a-text': 'errors/error-is-string',
  'errors/request-id-is-a-text': 'errors/request-id-is-string',
  'faults/haste-without-a-token': 'faults/limit-without-a-token',
  'http.chunked-answers': 'http.chunked-responses',
  'http.slow-answers': 'http.slow-responses',
  'inventory/a-text-keeps-its-kind': 'inventory/a-string-keeps-its-kind',
  'inventory/an-array-of-texts-keeps-its-kind': 'inventory/an-array-of-strings-keeps-its-kind',
  'inventory/names-in-other-letters-are-others': 'inventory/names-in-other-case-are-others',
  'inventory/patch-of-strangers-is-401': 'inventory/patch-unauthenticated-is-401',
  'inventory/patch-to-nothing-much': 'inventory/patch-to-zero-or-empty',
  'inventory/put-of-strangers-is-401': 'inventory/put-unauthenticated-is-401',
  'inventory/scope-in-the-body-is-no-way-in': 'inventory/scope-identity-changes-no-identity',
  'inventory/value-of-another-kind': 'inventory/value-changes-its-type',
  'legal-forms/three-times': 'legal-forms/repeated-requests-have-the-same-effect',
  'monitor/alerts-have-no-answer-body': 'monitor/alerts-have-no-response-body',
  'monitor/configuration-has-no-answer-body': 'monitor/configuration-has-no-response-body',
  'monitor/empty-texts-in-alerts': 'monitor/empty-strings-in-alerts',
  'monitor/empty-texts-in-configuration': 'monitor/empty-strings-in-configuration',
  'monitor/strangers-send-no-alerts': 'monitor/alerts-unauthenticated-is-401',
  'monitor/strangers-send-no-configuration': 'monitor/configuration-unauthenticated-is-401',
  'next-deployment/depends-in-other-letters-offers-nothing':
    'next-deployment/depends-in-other-case-offers-nothing',
  'next-deployment/get-asking-again-repeats': 'next-deployment/get-polling-again-repeats',
  'next-deployment/post-any-artifact-name-is-taken':
    'next-deployment/post-any-artifact-name-is-accepted',
  'next-deployment/post-any-device-type-is-taken':
    'next-deployment/post-any-device-type-is-accepted',
  'next-deployment/post-asking-again-repeats': 'next-deployment/post-polling-again-repeats',
  'next-deployment/post-free-pair-is-taken': 'next-deployment/post-free-pair-is-accepted',
  'next-deployment/post-only-the-keys-is-taken': 'next-deployment/post-only-the-keys-is-accepted',
  'next-deployment/v2-any-artifact-name-is-taken':
    'next-deployment/v2-any-artifact-name-is-accepted',
  'next-deployment/v2-any-device-type-is-taken': 'next-deployment/v2-any-device-type-is-accepted',
  'next-deployment/v2-asking-again-repeats': 'next-deployment/v2-polling-again-repeats',
  'next-deployment/v2-depends-in-other-letters-offers-nothing':
    'next-deployment/v2-depends-in-other-case-offers-nothing',
  'next-deployment/v2-flag-is-taken': 'next-deployment/v2-flag-is-accepted',
  'next-deployment/v2-free-pair-is-taken': 'next-deployment/v2-free-pair-is-accepted',
  'next-deployment/v2-only-the-keys-is-taken': 'next-deployment/v2-only-the-keys-is-accepted',
  'next-deployment/v2-without-flag-is-taken': 'next-deployment/v2-without-flag-is-accepted',
  'quantities/fifty-alerts-are-taken': 'quantities/fifteen-alerts-are-shown',
  'service/answers-are-json': 'service/responses-are-json',
  'update-control-map/given-id-gives-way-to-that-of-the-deployment':
    'update-control-map/id-is-that-of-the-deployment',
  'update-control-map/is-there-in-mid-update': 'update-control-map/is-available-during-the-update',
  'update-control-map/none-in-instructions': 'update-control-map/instructions-without-a-map',
  'update-control-map/second-place': 'update-control-map/map-in-a-second-place',
  'update-control-map/unasked': 'update-control-map/map-for-a-device-without-support',
};

/** Returns the present id of a case or a duty; the given one if it was not renamed. */
export function presentId(id: string): string {
  return formerIds[id] ?? id;
}

/** Every former id. */
export const renamedIds: readonly string[] = Object.keys(formerIds);
