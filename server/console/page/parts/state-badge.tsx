/** The state of a device, an authentication set, a deployment or an alert, in words. */
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { stateLabel, toneOf } from './tones.ts';

/** Renders the state as a badge. */
export function StateBadge({ state }: { state: string }) {
  return <Badge tone={toneOf(state)}>{stateLabel(state)}</Badge>;
}
