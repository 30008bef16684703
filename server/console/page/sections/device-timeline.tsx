/** Lists the requests of a device and their responses from the journal, newest first. */
import { Link } from 'wouter-preact';
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { ApiError, requestJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import type { EntryView } from '../api/types.ts';
import { readable, timeOfDay } from '../parts/texts.ts';
import { toneOfHttpStatus } from '../parts/tones.ts';
import { View } from '../parts/view.tsx';

const ENTRIES_MAX = 200;

/** Returns no entries for a 400, which means that the journal does not know the device yet. */
async function loadEntries(deviceId: string): Promise<readonly EntryView[]> {
  try {
    const query = { device: deviceId, limit: ENTRIES_MAX };
    return (await requestJson('GET /journal', { query })).entries.toReversed();
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return [];
    throw error;
  }
}

export function DeviceTimeline({ deviceId }: { deviceId: string }) {
  const loaded = useLoaded(() => loadEntries(deviceId), `timeline ${deviceId}`, { isLive: true });
  return (
    <View subject="the timeline" loaded={loaded}>
      {(entries) =>
        entries.length === 0 ? (
          <Empty title="The journal has no entries for this device" />
        ) : (
          <>
            <p class="muted">
              The newest {entries.length} entries.{' '}
              <Link href={`/journal?device=${deviceId}`}>Show all in the journal</Link>
            </p>
            <ol class="timeline">
              {entries.map((entry) => (
                <li key={entry.sequence}>
                  <EntryLine entry={entry} />
                </li>
              ))}
            </ol>
          </>
        )
      }
    </View>
  );
}

/**
 * Renders a journal entry in one line: the time, the status, the operation and the reason of a
 * refusal.
 */
export function EntryLine({ entry }: { entry: EntryView }) {
  const { at, sequence, status } = entry;
  return (
    <>
      <time dateTime={at}>{timeOfDay(at)}</time>{' '}
      {status !== undefined && <Badge tone={toneOfHttpStatus(status)}>{status || 'cut'}</Badge>}{' '}
      <Link href={`/journal/${sequence}`}>{titleOf(entry)}</Link>{' '}
      <span class="muted">{refusalReason(entry)}</span>
    </>
  );
}

/** Returns why a request was refused or brought no update; empty for any other entry. */
export function refusalReason({ refusal, noUpdate, reason, problem }: EntryView): string {
  if (refusal) return refusal.error;
  if (reason !== undefined || problem !== undefined) return reason ?? problem ?? '';
  return noUpdate ? `${noUpdate.outcome}: ${readable(noUpdate.reason)}` : '';
}

/** Returns the title of a journal entry; for a status report it ends with the reported status. */
export function titleOf({
  kind,
  operation,
  method,
  path,
  from,
  typ,
  code,
  report,
}: EntryView): string {
  if (kind === 'frame' && code !== undefined) return `close ${code} from the ${from}`;
  if (kind === 'frame') return `message from the ${from}: ${typ ?? 'malformed'}`;
  if (kind === 'unparsable') return 'bytes that are not HTTP';
  if (report !== undefined) return `${operation} ${report}`;
  return operation ?? `${method} ${path}`;
}
