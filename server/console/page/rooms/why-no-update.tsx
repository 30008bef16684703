/** Why the device gets no update: the server's own rules in their order, up to the one that says no. */
import { Verdict } from '../../../../fixtures/page/badge.tsx';
import { askJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import type { NoUpdate } from '../api/types.ts';
import { View } from '../parts/view.tsx';

/** The panel about a device as it is now. */
export function WhyNoUpdate({ deviceId }: { deviceId: string }) {
  const loaded = useLoaded(
    () => askJson<NoUpdate>('/explanations', { query: { device: deviceId } }),
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

/** The rules of one explanation; open where an update is missing. */
export function Rules({ explanation }: { explanation: NoUpdate }) {
  const { outcome, steps, deployments } = explanation;
  const stopped = steps.find(({ passed }) => !passed);
  const title = stopped ? 'Why did this device get no update?' : 'The device would get an update';
  return (
    <Verdict tone={stopped ? 'bad' : 'good'} title={title}>
      {stopped && (
        <p class="stopped">
          Stopped by the rule “{stopped.rule}”: {stopped.sentence}.
        </p>
      )}
      <details open={stopped !== undefined}>
        <summary>
          {steps.length} {steps.length === 1 ? 'rule' : 'rules'} checked, outcome: {outcome}
        </summary>
        <ol class="rules">
          {steps.map(({ rule, passed, sentence }) => (
            <li key={rule} data-passed={passed}>
              <strong>
                {passed ? '✓' : '✗'} {rule}
              </strong>
              <span class="kit-hidden">{passed ? ' passed: ' : ' says no: '}</span> {sentence}
            </li>
          ))}
        </ol>
        {deployments.length > 0 && (
          <>
            <h3>Its newest deployments</h3>
            <ul class="rules">
              {deployments.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          </>
        )}
      </details>
    </Verdict>
  );
}
