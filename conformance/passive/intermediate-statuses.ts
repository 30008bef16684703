/**
 * The intermediate statuses of an update in order; a device may skip any of them.
 * Spec: States and transitions
 */
export const intermediateStatuses: readonly string[] = [
  'downloading',
  'pause_before_installing',
  'installing',
  'pause_before_rebooting',
  'rebooting',
  'pause_before_committing',
];
