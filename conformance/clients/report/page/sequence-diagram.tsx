/** The exchanges around a violation as a sequence diagram: the client at the left, the server at the right. */

/** Number of steps before and after those that show the violation. */
const BEFORE = 5;
const AFTER = 2;

/** A step of the diagram, read from a line of the session. */
interface Step {
  /** Number of the exchange; undefined for what was done to the client. */
  readonly number: number | undefined;
  readonly time: string;
  /** What the client sent, or what was done to it; empty for a message of the server. */
  readonly text: string;
  /** What the server answered or sent; undefined if it did not. */
  readonly answer: string | undefined;
}

/** Renders the steps around the marked exchanges. @param session the lines of a scene */
export function SequenceDiagram({
  session,
  marked,
}: {
  readonly session: readonly string[];
  readonly marked: readonly number[];
}) {
  const steps = session.map(stepOf);
  const isMarked = ({ number }: Step): boolean => number !== undefined && marked.includes(number);
  const last = steps.findLastIndex(isMarked);
  if (last < 0) return null;
  const first = Math.max(steps.findIndex(isMarked), last - 2 * BEFORE);
  const shown = steps.slice(Math.max(0, first - BEFORE), last + AFTER + 1);
  return (
    <div class="sequence">
      <p class="sides">
        <span>Client</span> <span>Server</span>
      </p>
      <ol aria-label="Sequence of the exchanges">
        {shown.map((step, index) => (
          <li key={`${index} ${step.time}`} class={isMarked(step) ? 'marked' : ''}>
            <span class="report-hint">{step.time}</span>
            {step.text !== '' && (
              <span class={step.number === undefined ? 'act' : 'request'}>{step.text}</span>
            )}
            {step.answer !== undefined && <span class="answer">{step.answer}</span>}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Reads a line such as `12  3.40 s  GET /path -> 204`, or `3.40 s  -- deployed` without a number. */
function stepOf(line: string): Step {
  const [, number, time = '', rest = line] = /^ *(\d+)? +([\d.]+ s) {2}(.*)$/s.exec(line) ?? [];
  const isFromServer = rest.startsWith('websocket: ') && rest.endsWith('from the server');
  const [text = rest, answer] = isFromServer
    ? ['', rest]
    : rest.split(/ (?=-> \d|without an answer)/);
  return {
    number: number === undefined ? undefined : Number(number),
    ...{ time, text: text.replace(/^-- /, ''), answer: answer?.replace('-> ', '') },
  };
}
