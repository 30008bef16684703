/** Shows loaded data, or that it is loading or has failed. */
import type { ComponentChildren } from 'preact';
import { Failed, Loading } from '../../../../fixtures/page/states.tsx';
import type { ViewState } from '../api/loaded.ts';

/**
 * Shows the data once it is loaded. If a later load fails, the error is shown above the earlier
 * data.
 */
export function View<Data>({
  subject,
  loaded: { data, error, reload },
  children,
}: {
  subject: string;
  loaded: ViewState<Data>;
  children: (data: Data) => ComponentChildren;
}) {
  if (data === undefined) {
    if (error === '') return <Loading subject={subject} />;
    return <Failed title={`Cannot show ${subject}`} reason={error} onRetry={reload} />;
  }
  return (
    <>
      {error !== '' && (
        <p class="stale" role="status">
          Not up to date: {error}
        </p>
      )}
      {children(data)}
    </>
  );
}
