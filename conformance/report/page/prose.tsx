/** A sentence of the contract, whose backticks mark code. */

/** Renders a sentence, with text between backticks as code. */
export function Prose({ text }: { text: string }) {
  const parts = text.split('`');
  return (
    <>
      {parts.map((part, index) =>
        index % 2 === 1 ? <code key={`${index} ${part}`}>{part}</code> : part,
      )}
    </>
  );
}
