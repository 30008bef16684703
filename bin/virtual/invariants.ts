/** What must hold after every run against our server, whatever was lost on the way. */
import type { FleetResult } from '../../simulator/engine/simulate-fleet.ts';

/** An invariant that does not hold, and how that shows. */
export interface Violation {
  readonly invariant:
    | 'lost-status'
    | 'sums-balance'
    | 'stranger-served'
    | 'token-outlives-device'
    | 'contract-holds'
    | 'server-returns'
    | 'run-ends';
  /** A sentence, without its full stop. */
  readonly said: string;
}

/** Returns what a result shows to be wrong. */
export function violationsIn({ balance, checks }: FleetResult): Violation[] {
  const unread = `the records of the server could not be read: ${balance.because ?? ''}`;
  const broken = checks?.requirements.filter((each) => each.broken > 0) ?? [];
  return [
    ...(balance.checked ? [] : [{ invariant: 'run-ends' as const, said: unread }]),
    ...balance.differences.map(({ deviceIndex, ours, servers }) => ({
      invariant: 'lost-status' as const,
      said: `device ${deviceIndex} reported ${ours}, and the server has ${servers}`,
    })),
    ...balance.statistics.map(({ status, listed, stated }) => ({
      invariant: 'sums-balance' as const,
      said: `the server lists ${listed} devices as ${status}, and its statistics say ${stated}`,
    })),
    ...broken.map(({ requirement }) => ({
      invariant: 'contract-holds' as const,
      said: `${requirement} was broken`,
    })),
  ];
}
