/**
 * Shows one journal entry: request and response, the explanation, and how to repeat the request.
 */
import { Link, useParams } from 'wouter-preact';
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { CopyButton } from '../../../../fixtures/page/copy-button.tsx';
import { TextBlock } from '../../../../fixtures/page/text-block.tsx';
import { request, requestJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import type { EntryView } from '../api/types.ts';
import { curlOf } from '../parts/curl.ts';
import { Facts } from '../parts/facts.tsx';
import { bytesText, dayAndTime, deviceName } from '../parts/texts.ts';
import { toneOfHttpStatus } from '../parts/tones.ts';
import { View } from '../parts/view.tsx';
import { titleOf } from './device-timeline.tsx';
import { Explanation } from './explanation.tsx';

export function EntrySection() {
  const { sequence = '' } = useParams<{ sequence: string }>();
  const loaded = useLoaded(
    () => requestJson('GET /journal/{sequence}', { parameters: { sequence } }),
    `entry ${sequence}`,
  );
  return (
    <>
      <p class="trail">
        <Link href="/journal">Journal</Link>
      </p>
      <View subject="the entry" loaded={loaded}>
        {({ entry }) => <EntryContent entry={entry} />}
      </View>
    </>
  );
}

function EntryContent({ entry }: { entry: EntryView }) {
  const { kind, status, requestId } = entry;
  return (
    <>
      <div class="title">
        <h1>{titleOf(entry)}</h1>
        {status !== undefined && <Badge tone={toneOfHttpStatus(status)}>{status || 'cut'}</Badge>}
      </div>
      {(entry.refusal || entry.noUpdate) && <Explanation requestId={requestId} />}
      <Card title="Facts">
        <Facts facts={factsOf(entry)} />
      </Card>
      {kind === 'exchange' && <Exchange entry={entry} />}
      {kind === 'frame' && (
        <Card title="Content">
          <Body value={entry.body} />
        </Card>
      )}
    </>
  );
}

function factsOf(entry: EntryView) {
  const { at, requestId, tookMs, device, deployment, path, method, fault } = entry;
  const { requestBytes, responseBytes } = entry;
  return [
    ['At', dayAndTime(at)],
    ['Request ID', requestId],
    ...(path === undefined ? [] : [['Target', `${method} ${path}`]]),
    ...(tookMs === undefined ? [] : [['Took', `${tookMs} ms`]]),
    ...(requestBytes === undefined
      ? []
      : [['Bytes', `${bytesText(requestBytes)} in, ${bytesText(responseBytes ?? 0)} out`]]),
    ...(device?.id === undefined
      ? []
      : [
          [
            'Device',
            <Link href={`/devices/${device.id}`}>{deviceName(device.identity) || device.id}</Link>,
          ],
        ]),
    ...(deployment === undefined
      ? []
      : [['Deployment', <Link href={`/deployments/${deployment}`}>{deployment}</Link>]]),
    ...(fault === undefined ? [] : [['Planned fault', JSON.stringify(fault)]]),
  ] as const as readonly (readonly [string, string])[];
}

async function harText({ sequence }: EntryView): Promise<string> {
  const parameters = { sequence: String(sequence) };
  return (await request('GET /journal/{sequence}/har', { parameters })).text();
}

function Exchange({ entry }: { entry: EntryView }) {
  const curl = curlOf(entry);
  return (
    <>
      <Card
        title="As a curl command"
        aside={
          <span class="actions">
            <CopyButton label="Copy" text={curl} />
            <CopyButton label="Copy as HAR" text={() => harText(entry)} />
          </span>
        }
      >
        <p class="muted">Secrets are left out; replace the variables with them.</p>
        <pre>{curl}</pre>
      </Card>
      <div class="two-columns">
        <Card title="Request">
          <Headers headers={entry.requestHeaders ?? []} />
          <Body value={entry.requestBody} />
        </Card>
        <Card title="Response">
          <Headers headers={entry.responseHeaders ?? []} />
          <Body value={entry.responseBody} />
        </Card>
      </div>
    </>
  );
}

function Headers({ headers }: { headers: readonly (readonly [string, string])[] }) {
  return <pre>{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>;
}

function Body({ value }: { value: unknown }) {
  if (value === undefined) return <p class="muted">No body.</p>;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return <TextBlock text={text} />;
}
