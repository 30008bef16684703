/**
 * The invariants that must hold after every run against the reference server, whatever was lost
 * during the run.
 */
import type { FleetResult } from '../../simulator/engine/simulate-fleet.ts';

/** A violated invariant and the evidence. */
export interface InvariantViolation {
  readonly invariant:
    | 'lost-status'
    | 'sums-agree'
    | 'unauthorized-served'
    | 'token-outlives-device'
    | 'contract-holds'
    | 'server-returns'
    | 'run-ends';
  /** The evidence as a sentence without its full stop. */
  readonly message: string;
}

/** Returns the invariants that a result shows to be violated. */
export function violationsIn({ reconciliation, checks }: FleetResult): InvariantViolation[] {
  const unread = `the records of the server could not be read: ${reconciliation.reason ?? ''}`;
  const violatedRequirements = checks?.requirements.filter((each) => each.violated > 0) ?? [];
  return [
    ...(reconciliation.checked ? [] : [{ invariant: 'run-ends' as const, message: unread }]),
    ...reconciliation.differences.map(({ deviceIndex, fleetStatus, serverStatus }) => ({
      invariant: 'lost-status' as const,
      message: `device ${deviceIndex} reported ${fleetStatus}, but the server has ${serverStatus}`,
    })),
    ...reconciliation.statistics.map(({ status, inList, inStatistics }) => ({
      invariant: 'sums-agree' as const,
      message: `the server lists ${inList} devices as ${status}, but its statistics count ${inStatistics}`,
    })),
    ...violatedRequirements.map(({ requirement }) => ({
      invariant: 'contract-holds' as const,
      message: `the server violated requirement ${requirement}`,
    })),
  ];
}
