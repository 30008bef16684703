/**
 * Why a mutant may survive the suite: by file and by code of its line. A line that changes has to be
 * looked at again, as its reason is found no more.
 */
const same = 'same: no answer of the server differs';
const open = 'open: the contract does not say which of the two it should be';
const unreached = 'unreached: no request of a device leads there in this state of the store';
const words = 'words: the refusal has another text';
const gap = 'gap: the contract can be read so, and no case looks at it yet';

export const reasons = [
  { file: 'audit-csv.ts', code: 'left > 0', because: same },
  { file: 'audit-csv.ts', code: 'left -= entries.length', because: unreached },
  { file: 'audit-csv.ts', code: '!ignored.includes', because: open },
  { file: 'audit-csv.ts', code: "typeof value === 'object'", because: same },
  { file: 'audit-csv.ts', code: "typeof value === 'string'", because: open },
  { file: 'audit-logs.ts', code: 'request.url', because: unreached },
  { file: 'authentication.ts', code: "given === ''", because: open },
  { file: 'authentication.ts', code: "action: known ? 'update' : 'create'", because: gap },
  { file: 'authentication.ts', code: 'return {', because: unreached },
  { file: 'authentication.ts', code: "status: 'pending'", because: unreached },
  { file: 'authentication.ts', code: "'unknown-key'", because: open },
  { file: 'authentication.ts', code: "effect: 'record'", because: open },
  { file: 'identity.ts', code: 'catch', because: same },
  { file: 'identity.ts', code: 'toSorted', because: same },
  { file: 'artifacts.ts', code: 'if (!found)', because: gap },
  { file: 'configuration.ts', code: 'part?.deployment', because: unreached },
  { file: 'configuration.ts', code: '!part || !settings', because: unreached },
  { file: 'configuration.ts', code: 'Content-Disposition', because: open },
  { file: 'deployment-log.ts', code: "join('')", because: open },
  { file: 'status-report.ts', code: 'decommissioned', because: unreached },
  { file: 'status-report.ts', code: 'aborted', because: words },
  { file: 'next-deployment.ts', code: 'takesControlMap', because: open },
  { file: 'next-deployment.ts', code: 'find(({ artifact })', because: same },
  { file: 'next-deployment.ts', code: 'id: chosen?.id', because: open },
  { file: 'next-deployment.ts', code: 'device_types_compatible', because: open },
  { file: 'next-deployment.ts', code: 'request !== undefined', because: same },
  { file: 'next-deployment.ts', code: "decision: 'serve'", because: same },
  { file: 'next-deployment.ts', code: 'value !== undefined', because: same },
];
