/** Statuses of a device deployment, for tables of cases. Spec: States and transitions */

/** Statuses that a device may report, in the order in which one with all pauses reports them. */
export const statusColumns = [
  'downloading',
  'pause_before_installing',
  'installing',
  'pause_before_rebooting',
  'rebooting',
  'pause_before_committing',
  'success',
  'failure',
  'already-installed',
] as const;

/** States in which a device has not reported an end, so that an abort takes effect. */
export const abortableStates = [
  'offered',
  'downloading',
  'pause_before_installing',
  'installing',
  'pause_before_rebooting',
  'rebooting',
  'pause_before_committing',
] as const;

/** States in which the device has finished the deployment. */
export const endedStates = ['success', 'failure', 'already-installed'] as const;
