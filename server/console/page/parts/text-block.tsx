/** A block of text that scrolls within itself if it is long. */

/** A scrolling element must be reachable by keyboard. */
const reachable = { tabIndex: 0 };

/** Renders the text unchanged. */
export function TextBlock({ text }: { text: string }) {
  return (
    <pre class="body" {...reachable}>
      {text}
    </pre>
  );
}
