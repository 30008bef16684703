/** Shows why a device gets no update, as the server explains it. */
import { Link } from 'wouter-preact';
import { type Tone, Verdict } from '../../../../fixtures/page/badge.tsx';
import { askJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import type { NoUpdateView } from '../api/types.ts';
import { readable } from '../parts/texts.ts';
import { View } from '../parts/view.tsx';

/** Renders the explanation of the current state of a device. */
export function WhyNoUpdate({ deviceId }: { deviceId: string }) {
  const loaded = useLoaded(
    () => askJson('GET /explanations', { query: { device: deviceId } }),
    `no update ${deviceId}`,
    { isLive: true },
  );
  return (
    <section aria-labelledby="why-no-update">
      <h2 id="why-no-update" class="kit-hidden">
        Why did this device get no update?
      </h2>
      <View what="the rules of updates" loaded={loaded}>
        {(explanation) => <Rules explanation={explanation} />}
      </View>
    </section>
  );
}

const outcomes: Readonly<Record<NoUpdateView['outcome'], { tone: Tone; title: string }>> = {
  update: { tone: 'good', title: 'Update' },
  'up to date': { tone: 'good', title: 'Up to date' },
  'no update': { tone: 'bad', title: 'No update' },
};

/** Renders an explanation as one line, with the examined rules in a folded section. */
export function Rules({ explanation }: { explanation: NoUpdateView }) {
  const { outcome, rule, deploymentId, because, polled, passed, deployments } = explanation;
  const { tone, title } = outcomes[outcome];
  return (
    <Verdict tone={tone} title={`${title}: ${readable(because)}`}>
      <details>
        <summary>
          {rule === undefined ? 'All rules passed' : `Decided by the rule “${rule}”`}
        </summary>
        <p>Polled {readable(polled)}</p>
        {deploymentId !== undefined && (
          <p>
            <Link href={`/deployments/${deploymentId}`}>Deployment {deploymentId}</Link>
          </p>
        )}
        {passed.length > 0 && (
          <>
            <h3>Passed rules</h3>
            <ol class="rules">
              {passed.map((each) => (
                <li key={each.rule}>
                  <strong>{each.rule}</strong> {readable(each.sentence)}
                </li>
              ))}
            </ol>
          </>
        )}
        {deployments.length > 0 && (
          <>
            <h3>Its other deployments</h3>
            <ul class="rules">
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
