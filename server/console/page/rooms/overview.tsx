/** The fleet in one look. */
import { Failed, Loading } from '../../../../fixtures/page/states.tsx';
import { askJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';

/** Counts by state. */
export function OverviewRoom() {
  const { data, fault, reload } = useLoaded(
    () => askJson<{ deviceCounts: Record<string, number> }>('/overview'),
    'overview',
    { isLive: true },
  );
  if (!data) {
    if (fault === '') return <Loading what="the overview" />;
    return <Failed title="The overview cannot be shown" reason={fault} onRetry={reload} />;
  }
  return (
    <>
      <h1>Overview</h1>
      <ul>
        {Object.entries(data.deviceCounts).map(([status, count]) => (
          <li key={status}>
            {count} {status}
          </li>
        ))}
      </ul>
    </>
  );
}
