/** The status of a device, an authentication set, a deployment or an alert, in words. */
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { statusLabel, toneOf } from './tones.ts';

/** Renders the status as a badge. */
export function StatusBadge({ status }: { status: string }) {
  return <Badge tone={toneOf(status)}>{statusLabel(status)}</Badge>;
}
