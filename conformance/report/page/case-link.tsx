/** A link to a case, by its ID. */

/** Renders a link that opens the case on this page. */
export function CaseLink({ id }: { id: string }) {
  return (
    <a href={`#${encodeURI(id)}`}>
      <code>{id}</code>
    </a>
  );
}
