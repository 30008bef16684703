/** A text of any length; a long one scrolls within itself. */

/** What scrolls has to be reachable by keyboard. */
const reachable = { tabIndex: 0 };

/** The text, unchanged. */
export function TextBlock({ text }: { text: string }) {
  return (
    <pre class="body" {...reachable}>
      {text}
    </pre>
  );
}
