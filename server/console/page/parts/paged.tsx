/** A long list shown page by page, for lists whose rows are too high for a `LongTable`. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Pager } from '../../../../fixtures/page/pager.tsx';

const PAGE_ROWS = 50;

/** Renders one page of the rows, and a pager if there are more. */
export function Paged<Row>({
  subject,
  rows,
  children,
}: {
  /** Plural noun for the rows, such as `deployments`. */
  subject: string;
  rows: readonly Row[];
  children: (rows: readonly Row[]) => ComponentChildren;
}) {
  const [chosen, setChosen] = useState(0);
  // The list may have become shorter than the chosen page.
  const page = Math.min(chosen, Math.max(0, Math.ceil(rows.length / PAGE_ROWS) - 1));
  const first = page * PAGE_ROWS;
  return (
    <>
      {children(rows.slice(first, first + PAGE_ROWS))}
      {rows.length > PAGE_ROWS && (
        <Pager
          subject={subject}
          page={page}
          pageSize={PAGE_ROWS}
          rows={rows.length}
          onChoose={setChosen}
        />
      )}
    </>
  );
}
