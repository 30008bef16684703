/**
 * The states of an update on a device, and their transitions. A state is the status that the device
 * has reported or is about to report. The state is `offered` before the first report and `aborted`
 * after a 409.
 * Spec: States and transitions
 */
import type { ReportableStatus } from '../../fixtures/contract/vocabulary.ts';

export type UpdateState = 'offered' | ReportableStatus | 'aborted';

export const updateStates = [
  'offered',
  'downloading',
  'pause_before_installing',
  'installing',
  'pause_before_rebooting',
  'rebooting',
  'pause_before_committing',
  'success',
  'failure',
  'already-installed',
  'aborted',
] as const satisfies readonly UpdateState[];

export const updateEvents = [
  'recognise',
  'claim',
  'download',
  'hold-install',
  'install',
  'hold-reboot',
  'reboot',
  'hold-commit',
  'commit',
  'fail',
  'abort',
] as const;
/**
 * `recognise`: the device already has the artifact; `claim`: the device reports success without
 * doing anything; `hold-…`: a control map pauses the update.
 */
export type UpdateEvent = (typeof updateEvents)[number];

type StateRow = Readonly<Record<UpdateEvent, UpdateState | null>>;

const nowhere: StateRow = {
  recognise: null,
  claim: null,
  download: null,
  'hold-install': null,
  install: null,
  'hold-reboot': null,
  reboot: null,
  'hold-commit': null,
  commit: null,
  fail: null,
  abort: null,
};
const stoppable: StateRow = { ...nowhere, fail: 'failure', abort: 'aborted' };

/**
 * Maps each state and event to the next state; `null` when the event cannot happen in that state.
 */
const updateTable: Readonly<Record<UpdateState, StateRow>> = {
  offered: {
    ...stoppable,
    recognise: 'already-installed',
    claim: 'success',
    download: 'downloading',
  },
  downloading: {
    ...stoppable,
    'hold-install': 'pause_before_installing',
    install: 'installing',
  },
  pause_before_installing: { ...stoppable, install: 'installing' },
  installing: {
    ...stoppable,
    'hold-reboot': 'pause_before_rebooting',
    reboot: 'rebooting',
    'hold-commit': 'pause_before_committing',
    commit: 'success',
  },
  pause_before_rebooting: { ...stoppable, reboot: 'rebooting' },
  // A device that needs several reboots reports each one.
  rebooting: {
    ...stoppable,
    reboot: 'rebooting',
    'hold-commit': 'pause_before_committing',
    commit: 'success',
  },
  pause_before_committing: { ...stoppable, commit: 'success' },
  // The server can answer even a final report with 409.
  success: { ...nowhere, abort: 'aborted' },
  failure: { ...nowhere, abort: 'aborted' },
  'already-installed': { ...nowhere, abort: 'aborted' },
  aborted: nowhere,
};

/** Final states: the device has finished the deployment. */
export type FinalState = 'success' | 'failure' | 'aborted' | 'already-installed';

/** Returns true for a final state. */
export function isFinal(state: UpdateState): state is FinalState {
  return (
    state === 'success' ||
    state === 'failure' ||
    state === 'aborted' ||
    state === 'already-installed'
  );
}

/**
 * Returns the next state.
 * @throws Error when the event cannot happen in this state, which is a bug in the simulator
 */
export function nextUpdateState(state: UpdateState, event: UpdateEvent): UpdateState {
  const next = updateTable[state][event];
  if (next === null) throw new Error(`an update that is ${state} cannot ${event}`);
  return next;
}
