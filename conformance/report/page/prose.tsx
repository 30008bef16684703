/** A sentence of the contract, whose backticks mark code. */

/** The sentence with its code as such. */
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
