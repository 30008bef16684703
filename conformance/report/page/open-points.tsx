/** The open points of the contract: the target's behaviour and that of the reference server. */
import { Facts } from '../../../fixtures/page/facts.tsx';
import { Empty } from '../../../fixtures/page/states.tsx';
import type { PageFacts } from '../page-facts.ts';
import { CaseLink } from './case-link.tsx';

/** Renders a card for each open point. */
export function OpenPoints({ facts: { openPoints } }: { facts: PageFacts }) {
  return (
    <div class="report-stack" id="open-points">
      {openPoints.length === 0 && <Empty title="This run observed no open point." />}
      {openPoints.map(({ id, heading, question, reference, target }) => (
        <section class="kit-card report-stack" key={id}>
          <h2>{question}</h2>
          <p class="report-hint">
            {heading}, <code>{id}</code>
          </p>
          <Facts
            rows={[
              [
                'the target',
                target.length > 0 && (
                  <ul class="report-list">
                    {target.map(({ caseId, text }) => (
                      <li key={caseId}>
                        {text} (<CaseLink id={caseId} />)
                      </li>
                    ))}
                  </ul>
                ),
              ],
              ['the reference server', reference],
            ]}
          />
        </section>
      ))}
    </div>
  );
}
