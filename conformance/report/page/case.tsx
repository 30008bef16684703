/** One case: a line with its verdict and the reason, which opens to show the evidence. */
import { useState } from 'preact/hooks';
import { Badge } from '../../../fixtures/page/badge.tsx';
import { CopyButton } from '../../../fixtures/page/copy-button.tsx';
import { Facts } from '../../../fixtures/page/facts.tsx';
import { usePrinting } from '../../../fixtures/page/printing.ts';
import { TextBlock } from '../../../fixtures/page/text-block.tsx';
import type { PageFacts, ShownVerdict } from '../page-facts.ts';
import { CaseLink } from './case-link.tsx';
import { ExchangeBlock } from './exchange.tsx';
import type { FilteredCase } from './filters.tsx';
import {
  changeLabels,
  commandFor,
  linkTo,
  needsNoAttention,
  outcomeText,
  toneOf,
  toneOfChange,
  violatedBy,
} from './labels.ts';
import { Prose } from './prose.tsx';

/** Renders a line that opens; its content is rendered when it is first opened or printed. */
export function Case({ entry, facts }: { entry: FilteredCase; facts: PageFacts }) {
  const { verdict, change } = entry;
  const [isChosen, setChosen] = useState(false);
  const isPrinting = usePrinting();
  const isOpen = isChosen || (isPrinting && !needsNoAttention(verdict));
  const outcome = outcomeText(verdict);
  return (
    <details
      class="case"
      id={`case-${verdict.id}`}
      open={isOpen}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open !== isOpen) setChosen(currentTarget.open);
      }}
    >
      <summary>
        <Badge tone={toneOf(verdict.verdict)}>{verdict.verdict}</Badge>{' '}
        {verdict.waiver && <Badge>waived</Badge>} {verdict.tolerated && <Badge>tolerated</Badge>}{' '}
        {change !== '' && <Badge tone={toneOfChange(change)}>{changeLabels[change]}</Badge>}{' '}
        {outcome !== '' && <span class="outcome">{outcome}</span>}
        <span class="title">
          {verdict.title} <code>{verdict.id}</code>
        </span>
      </summary>
      {isOpen && <Inside verdict={verdict} facts={facts} />}
    </details>
  );
}

function Inside({ verdict, facts }: { verdict: ShownVerdict; facts: PageFacts }) {
  const { id, exchanges = [], exchangesDropped = 0, reproScript: script } = verdict;
  return (
    <div class="inside">
      <div class="report-row">
        <CopyButton label="Copy link" text={linkTo(id)} />
        <CopyButton label="Copy command" text={commandFor(facts, id)} />
        {script !== undefined && <CopyButton label="Copy repro script" text={script} />}
        <CaseLink id={id} />
      </div>
      <Findings verdict={verdict} facts={facts} />
      <h3>Requirements</h3>
      <RequirementsView verdict={verdict} facts={facts} />
      {exchanges.length > 0 && <h3>Exchanges</h3>}
      {exchangesDropped > 0 && (
        <p class="report-hint">{exchangesDropped} earlier exchanges are left out.</p>
      )}
      {exchanges.map((exchange) => (
        <ExchangeBlock key={`${exchange.startMs} ${exchange.request.line}`} exchange={exchange} />
      ))}
      {script !== undefined && (
        <>
          <h3>Repro script</h3>
          <TextBlock text={script} />
        </>
      )}
    </div>
  );
}

function RequirementsView({ verdict, facts }: { verdict: ShownVerdict; facts: PageFacts }) {
  const violated = verdict.verdict === 'fail' ? violatedBy(verdict) : [];
  const ids = [...new Set([...verdict.requirements, ...violated])];
  const requirementsById = new Map(facts.requirements.map((each) => [each.id, each]));
  return (
    <ul class="required">
      {ids.map((id) => (
        <li key={id}>
          {violated.includes(id) && <Badge tone="negative">violated</Badge>}{' '}
          {requirementsById.get(id)?.level.toUpperCase()}{' '}
          <Prose text={requirementsById.get(id)?.sentence ?? ''} /> <code>{id}</code>
        </li>
      ))}
    </ul>
  );
}

/** Renders a name and a value for each fact that the verdict has. */
function Findings({ verdict, facts }: { verdict: ShownVerdict; facts: PageFacts }) {
  const { reason, waiver, attempts, violations, needs } = verdict;
  const earlierVerdict = facts.comparison?.changes.find(({ id }) => id === verdict.id)?.before;
  return (
    <Facts
      rows={[
        ['expected', verdict.expected],
        ['actual', verdict.actual],
        ['observed', verdict.observation],
        ['violations', violations?.map(violationLine).join('\n')],
        ['reason', reason && `${reason.text} [${reason.code}]`],
        [
          'in the earlier run',
          earlierVerdict &&
            [earlierVerdict.verdict, earlierVerdict.text].filter(Boolean).join(': '),
        ],
        ['tolerated', verdict.tolerated && 'a SHOULD, which does not fail this run'],
        ['waived', waiver && `${waiver.reason} (${waiver.owner}, until ${waiver.expires})`],
        ['follows from', waiver?.follows],
        [
          'attempts',
          attempts?.map((each) => `${each.verdict} in ${each.durationMs} ms`).join(', '),
        ],
        ['left behind', verdict.leftBehind?.join(', ')],
        ['starts from', verdict.start],
        [
          'conditions',
          [verdict.level, verdict.effect, ...needs.map((need) => `needs ${need}`)].join(', '),
        ],
        ['time', `${verdict.durationMs} ms, started at ${verdict.startedMs} ms`],
      ]}
    />
  );
}

function violationLine({
  operation,
  text,
  requirements,
}: NonNullable<ShownVerdict['violations']>[number]): string {
  return `${operation}: ${text} (${requirements.join(', ')})`;
}
