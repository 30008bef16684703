/**
 * The exchanges around a violation as a sequence diagram: the client at the left, the server at the
 * right.
 */
import type { SessionStep } from '../client-test-result.ts';

/** Number of steps before and after those that show the violation. */
const BEFORE = 5;
const AFTER = 2;

/** Renders the steps around the marked exchanges. @param session what happened in a scene */
export function SequenceDiagram({
  session,
  marked,
}: {
  readonly session: readonly SessionStep[];
  readonly marked: readonly number[];
}) {
  const isMarked = ({ sequence = 0 }: SessionStep): boolean => marked.includes(sequence);
  const lastIndex = session.findLastIndex(isMarked);
  if (lastIndex < 0) return null;
  const firstIndex = Math.max(session.findIndex(isMarked), lastIndex - 2 * BEFORE);
  const shownSteps = session.slice(Math.max(0, firstIndex - BEFORE), lastIndex + AFTER + 1);
  return (
    <div class="sequence">
      <p class="sides">
        <span>Client</span> <span>Server</span>
      </p>
      <ol aria-label="Sequence of the exchanges">
        {shownSteps.map((step, index) => (
          <li key={`${index} ${step.atMs}`} class={isMarked(step) ? 'marked' : ''}>
            <span class="report-hint">{(step.atMs / 1000).toFixed(2)} s</span>
            <span class={classes[step.by]}>{step.text}</span>
            {step.response !== undefined && <span class="response">{step.response}</span>}
          </li>
        ))}
      </ol>
    </div>
  );
}

const classes = { client: 'request', server: 'response', 'client-test': 'event' } as const;
