/**
 * Why a mutant may survive the suite, by file and by source line. A changed line no longer matches
 * its reason and has to be reviewed again.
 */
const same = 'same: no answer of the server differs';
const users = 'users: what it changes shows in the management API alone, or in mail';
const unreached = 'unreached: no request of the suite leads there in this state of the store';
const variant = 'variant: the suite is not played against it, or not over its time';
const words = 'words: the refusal has another text';
const gap = 'gap: the suite could see it, and does not yet';

export const reasons = [
  { file: 'audit-csv.ts', code: 'left > 0', because: same },
  { file: 'audit-csv.ts', code: 'left -= entries.length', because: unreached },
  { file: 'audit-csv.ts', code: 'quoted_match', because: same },
  { file: 'audit-csv.ts', code: "typeof value === 'object'", because: same },
  { file: 'audit-csv.ts', code: "typeof value === 'string'", because: same },
  { file: 'audit-logs.ts', code: 'request.url', because: unreached },
  { file: 'device/authentication.ts', code: "token === ''", because: variant },
  { file: 'device/authentication.ts', code: 'proven.externalId', because: gap },
  { file: 'device/authentication.ts', code: 'hasRoomFor', because: users },
  { file: 'device/authentication.ts', code: "'limit-reached'", because: users },
  { file: 'device/authentication.ts', code: "status: 'pending'", because: same },
  { file: 'delta-job.ts', code: '', because: users },
  { file: 'device-limit.ts', code: '', because: users },
  { file: 'identity.ts', code: 'catch', because: same },
  { file: 'identity.ts', code: 'toSorted', because: same },
  { file: 'instruction.ts', code: 'beginsAttempt', because: same },
  { file: 'instruction.ts', code: 'offered(asked', because: gap },
  { file: 'rules/inventory.ts', code: 'tagsMax', because: users },
  { file: 'rules/inventory.ts', code: 'tooManyTags', because: users },
  { file: 'device/configuration.ts', code: 'store.devices.find', because: same },
  { file: 'device/configuration.ts', code: "'because' in configured", because: same },
  { file: 'device/configuration.ts', code: "'because' in reported", because: gap },
  { file: 'device/configuration.ts', code: 'part?.deployment', because: unreached },
  { file: 'device/configuration.ts', code: '!part || !settings', because: unreached },
  { file: 'device/configuration.ts', code: 'mender-configure', because: gap },
  { file: 'device/next-deployment.ts', code: 'mayHaveWork', because: same },
  { file: 'device/next-deployment.ts', code: 'beginDeltaJob', because: users },
  { file: 'device/next-deployment.ts', code: 'chosen && beginsAttempt', because: users },
  { file: 'device/next-deployment.ts', code: 'id: chosen?.id', because: gap },
  { file: 'device/next-deployment.ts', code: 'device_types_compatible', because: gap },
  { file: 'rules/next-deployment.ts', code: "decision: 'serve'", because: same },
  { file: 'rules/next-deployment.ts', code: "part.status === 'pending'", because: gap },
  { file: 'rules/next-deployment.ts', code: 'id === part.artifactId', because: gap },
  { file: 'rules/next-deployment.ts', code: 'toSorted', because: same },
  { file: 'rules/next-deployment.ts', code: 'value !== undefined', because: same },
  { file: 'monitor.ts', code: '', because: users },
  { file: 'provisioning.ts', code: '', because: variant },
  { file: 'device-deployment.ts', code: 'decommissioned', because: unreached },
  { file: 'device-deployment.ts', code: 'aborted', because: words },
];
