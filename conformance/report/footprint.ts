/** What a run asks of its target and leaves there, in words. */

import { counted } from '../../fixtures/counted.ts';
import type { Made, ResourceKind } from '../context/resource.ts';
import type { ConformanceResult } from '../result/result.ts';

/** Those that a user can remove; a deployment can only be ended. */
const removable: readonly ResourceKind[] = ['device', 'artifact', 'tenant'];

type Trace = Pick<ConformanceResult, 'made' | 'footprint'>;

/** One line on the requests, and one on what stays, where something does. */
export function footprintLines({
  made,
  footprint,
  durationMs,
  verdicts,
  leftBehind,
}: ConformanceResult): readonly string[] {
  const perSecond = footprint.requests / Math.max(durationMs / 1000, 0.001);
  const removed = madeText(made, removable);
  const stays = stayingText({ made, footprint });
  const left = leftBehind.length + verdicts.flatMap((each) => each.leftBehind ?? []).length;
  const what =
    left === 0 ? `created and removed: ${removed}` : `created: ${removed}; left behind: ${left}`;
  const asked = `${counted(footprint.requests, 'request')}, ${perSecond.toFixed(0)}/s`;
  return [
    `${asked}; ${removed === '' ? 'nothing was created' : what}`,
    ...(stays === '' ? [] : [`left on the server (the API has no delete): ${stays}`]),
  ];
}

/** What was made of the removable kinds. */
export function removableText({ made }: Pick<Trace, 'made'>): string {
  return madeText(made, removable);
}

/** What the API cannot delete: empty when there is nothing. */
export function stayingText({ made, footprint }: Trace): string {
  const { userChanges } = footprint;
  return [
    ...((made.deployment ?? 0) > 0
      ? [`${counted(made.deployment ?? 0, 'deployment')} (ended)`]
      : []),
    ...(userChanges > 0 ? [`${counted(userChanges, 'audit-log entry')} at most`] : []),
  ].join(', ');
}

function madeText(made: Made, kinds: readonly ResourceKind[]): string {
  return kinds.flatMap((kind) => (made[kind] ? [counted(made[kind], kind)] : [])).join(', ');
}
