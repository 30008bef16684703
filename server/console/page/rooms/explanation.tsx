/** Why a request was refused or brought no update, and how it would succeed. */
import { useParams } from 'wouter-preact';
import { Verdict } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { CopyButton } from '../../../../fixtures/page/copy-button.tsx';
import { askJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import type { NoUpdate, Refused } from '../api/types.ts';
import { Facts } from '../parts/facts.tsx';
import { TextBlock } from '../parts/text-block.tsx';
import { View } from '../parts/view.tsx';
import { Rules } from './why-no-update.tsx';

/** The room of a link that an answer has carried. */
export function ExplainRoom() {
  const { requestId = '' } = useParams<{ requestId: string }>();
  const wanted = decodeURIComponent(requestId);
  return (
    <>
      <h1>Request {wanted}</h1>
      <Explanation requestId={wanted} />
    </>
  );
}

/** The explanation of a request. */
export function Explanation({ requestId }: { requestId: string }) {
  const path = `/explanations/${encodeURIComponent(requestId)}`;
  const loaded = useLoaded(() => askJson<Refused | NoUpdate>(path), path);
  return (
    <View what="the explanation" loaded={loaded}>
      {(explained) =>
        'outcome' in explained ? <Rules explanation={explained} /> : <RefusedView of={explained} />
      }
    </View>
  );
}

function RefusedView({ of: refused }: { of: Refused }) {
  const { status, sentence, rule, wrong, diagnosis, first, command, needs } = refused;
  return (
    <>
      <Verdict tone="bad" title={`${status}: ${sentence}`}>
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
        <Card title="What was wrong">
          <Facts
            facts={[
              ['Place', wrong.path],
              ['Expected', wrong.expected],
              ['Actual', wrong.actual],
              ...(rule.requirements.length === 0
                ? []
                : ([['Requirements', rule.requirements.join(', ')]] as const)),
            ]}
          />
        </Card>
        <Card title="How it would succeed" aside={<CopyButton label="Copy" text={command} />}>
          {first && <p>First: {first}.</p>}
          <TextBlock text={command} />
          <Facts facts={Object.entries(needs)} />
        </Card>
      </div>
    </>
  );
}
