/** Shows the progress of a deployment's devices as a bar with a legend. */
import { deviceDeploymentStatuses } from '../../../../fixtures/contract/vocabulary.ts';
import { statusLabel, toneOf } from '../parts/tones.ts';

/** Renders the bar, and a legend with the number of devices for each status. */
export function Funnel({
  statistics,
  count,
}: {
  statistics: Readonly<Record<string, number>>;
  count: number;
}) {
  const parts = deviceDeploymentStatuses.flatMap((status) => {
    const devices = statistics[status] ?? 0;
    return devices > 0 ? [[status, devices] as const] : [];
  });
  const total = Math.max(count, 1);
  return (
    <div class="funnel">
      <div class="funnel-bar" aria-hidden="true">
        {parts.map(([status, devices]) => (
          <span
            key={status}
            data-tone={toneOf(status)}
            style={{ width: `${(devices / total) * 100}%` }}
          />
        ))}
      </div>
      <span class="muted">
        {parts
          .map(([status, devices]) => `${devices} ${statusLabel(status).toLowerCase()}`)
          .join(', ') || `${count} devices`}
      </span>
    </div>
  );
}
