/** Describes the requests of a run, and the resources and log entries that it leaves behind. */
import { countText } from '../../fixtures/base/count-text.ts';
import type { ResourceCounts, ResourceKind } from '../context/resource.ts';
import type { ConformanceResult } from '../result/result.ts';

/** The kinds of resources that can be removed; a deployment can only be aborted. */
const removable: readonly ResourceKind[] = ['device', 'artifact', 'tenant'];

type RunTrace = Pick<ConformanceResult, 'made' | 'footprint'>;

/** Returns a line about the requests, and one about what remains on the target, if anything. */
export function footprintLines({
  made,
  footprint,
  durationMs,
  verdicts,
  leftBehind,
}: ConformanceResult): readonly string[] {
  const perSecond = footprint.requests / Math.max(durationMs / 1000, 0.001);
  const removedText = madeText(made, removable);
  const stays = leftOnServerText({ made, footprint });
  const leftCount = leftBehind.length + verdicts.flatMap((each) => each.leftBehind ?? []).length;
  const subject =
    leftCount === 0
      ? `created and removed: ${removedText}`
      : `created: ${removedText}; left behind: ${leftCount}`;
  const requests = `${countText(footprint.requests, 'request')}, ${perSecond.toFixed(0)}/s`;
  return [
    `${requests}; ${removedText === '' ? 'nothing was created' : subject}`,
    ...(stays === '' ? [] : [`left on the server (the API has no delete): ${stays}`]),
  ];
}

/** Returns the number of created resources of the removable kinds. */
export function removableText({ made }: Pick<RunTrace, 'made'>): string {
  return madeText(made, removable);
}

/** Describes what the API cannot delete; empty if there is nothing. */
export function leftOnServerText({ made, footprint }: RunTrace): string {
  const { userChanges } = footprint;
  return [
    ...((made.deployment ?? 0) > 0
      ? [`${countText(made.deployment ?? 0, 'deployment')} (ended)`]
      : []),
    ...(userChanges > 0 ? [`${countText(userChanges, 'audit-log entry')} at most`] : []),
  ].join(', ');
}

function madeText(made: ResourceCounts, kinds: readonly ResourceKind[]): string {
  return kinds.flatMap((kind) => (made[kind] ? [countText(made[kind], kind)] : [])).join(', ');
}
