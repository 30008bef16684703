/** Shows why a device gets no update, as the server explains it. */
import { Link } from 'wouter-preact';
import { type Tone, Verdict } from '../../../../fixtures/page/badge.tsx';
import { requestJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import type { NoUpdateView } from '../api/types.ts';
import { readable } from '../parts/texts.ts';
import { View } from '../parts/view.tsx';

/** Renders the explanation of the current state of a device. */
export function WhyNoUpdate({ deviceId }: { deviceId: string }) {
  const loaded = useLoaded(
    () => requestJson('GET /explanations', { query: { device: deviceId } }),
    `no update ${deviceId}`,
    { isLive: true },
  );
  return (
    <section aria-labelledby="why-no-update">
      <h2 id="why-no-update">
        {loaded.data?.outcome === 'no update'
          ? 'Why does this device get no update?'
          : 'Next update'}
      </h2>
      <View subject="the explanation" loaded={loaded}>
        {(explanation) => <Conditions explanation={explanation} />}
      </View>
    </section>
  );
}

const outcomes: Readonly<Record<NoUpdateView['outcome'], { tone: Tone; title: string }>> = {
  update: { tone: 'positive', title: 'Update' },
  'up to date': { tone: 'positive', title: 'Up to date' },
  'no update': { tone: 'negative', title: 'No update' },
};

/** Renders an explanation as one line, with the examined conditions in a folded section. */
export function Conditions({ explanation }: { explanation: NoUpdateView }) {
  const { outcome, condition, deploymentId, reason, remedy, polled, passed, deployments } =
    explanation;
  const { tone, title } = outcomes[outcome];
  return (
    <Verdict tone={tone} title={`${title}: ${readable(reason)}`}>
      {remedy !== undefined && <p>To get an update: {readable(remedy)}</p>}
      <details>
        <summary title={condition}>
          {condition === undefined ? 'All conditions passed' : 'How this was decided'}
        </summary>
        <p>Polled {readable(polled)}</p>
        {deploymentId !== undefined && (
          <p>
            <Link href={`/deployments/${deploymentId}`}>Deployment {deploymentId}</Link>
          </p>
        )}
        {passed.length > 0 && (
          <>
            <h3>Passed conditions</h3>
            <ol class="conditions">
              {passed.map((each) => (
                <li key={each.condition} title={each.condition}>
                  {readable(each.sentence)}
                </li>
              ))}
            </ol>
          </>
        )}
        {deployments.length > 0 && (
          <>
            <h3>Its other deployments</h3>
            <ul class="conditions">
              {deployments.map((sentence) => (
                <li key={sentence}>{readable(sentence)}</li>
              ))}
            </ul>
          </>
        )}
      </details>
    </Verdict>
  );
}
