/** Explains why a request was refused or got no update, and how it would succeed. */
import { useParams } from 'wouter-preact';
import { problemRows, requestLabel } from '../../../../fixtures/control/refusal-rows.ts';
import { Verdict } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { CopyButton } from '../../../../fixtures/page/copy-button.tsx';
import { TextBlock } from '../../../../fixtures/page/text-block.tsx';
import { requestJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import type { RefusalView } from '../api/types.ts';
import { Facts } from '../parts/facts.tsx';
import { View } from '../parts/view.tsx';
import { Conditions } from './why-no-update.tsx';

/** The view behind the links to explanations in error responses. */
export function ExplanationSection() {
  const { requestId = '' } = useParams<{ requestId: string }>();
  const decodedId = decodeURIComponent(requestId);
  return (
    <>
      <h1>Request {decodedId}</h1>
      <Explanation requestId={decodedId} />
    </>
  );
}

/** Renders the explanation of a request. */
export function Explanation({ requestId }: { requestId: string }) {
  const loaded = useLoaded(
    () => requestJson('GET /explanations/{requestId}', { parameters: { requestId } }),
    `explanation ${requestId}`,
  );
  return (
    <View subject="the explanation" loaded={loaded}>
      {(explained) =>
        'outcome' in explained ? (
          <Conditions explanation={explained} />
        ) : (
          <RefusedView refusal={explained} />
        )
      }
    </View>
  );
}

function RefusedView({ refusal }: { refusal: RefusalView }) {
  const { status, sentence, rule, problem, diagnosis, before, command, variables } = refusal;
  const { correctedRequest: request } = refusal;
  return (
    <>
      <Verdict tone="negative" title={`${status}: ${sentence}`}>
        <p>
          {rule.heading}: {rule.sentence}
        </p>
        {diagnosis && (
          <p>
            <strong>{diagnosis.sentence}</strong> {diagnosis.detail} {diagnosis.remedy}
          </p>
        )}
      </Verdict>
      <div class="two-columns">
        <Card title="Problem">
          <Facts
            facts={[
              ...problemRows(problem).map(([label, text]) => [capitalize(label), text] as const),
              ...(rule.requirements.length === 0
                ? []
                : ([['Requirements', rule.requirements.join(', ')]] as const)),
            ]}
          />
        </Card>
        <Card
          title="How it would succeed"
          aside={command !== undefined && <CopyButton label="Copy" text={command} />}
        >
          {before && <p>Before: {before}.</p>}
          {request && (
            <p>
              {capitalize(requestLabel(refusal))}: {request.method} {request.path}
            </p>
          )}
          {command !== undefined && <TextBlock text={command} />}
          <Facts facts={Object.entries(variables)} />
        </Card>
      </div>
    </>
  );
}

function capitalize(label: string): string {
  return label.charAt(0).toUpperCase() + label.slice(1);
}
