/** A table of any length: only the visible rows are rendered; a click on a heading sorts. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { useVirtual } from './use-virtual.ts';

const ROW_PIXELS = 37;

/** A column; `sorts` makes its heading a button. */
export interface LongColumn<Row> {
  readonly title: string;
  /** As CSS has it; the one with a share of the width gets what is left where the page is narrow. */
  readonly width?: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly sorts?: { readonly id: string };
  /** Left out where the page is narrow. */
  readonly isMinor?: boolean;
}

/** How rows are ordered: the id of a column, with a minus before it for the other direction. */
export interface Order {
  readonly order: string;
  readonly onOrder: (order: string) => void;
}

/** What scrolls has to be reachable by keyboard. */
const reachable = { tabIndex: 0 };

/** The table; it scrolls within itself. */
export function LongTable<Row>({
  caption,
  columns,
  rows,
  keyOf,
  ...ordering
}: {
  caption: string;
  columns: readonly LongColumn<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
} & Partial<Order>) {
  const frame = useRef<HTMLElement>(null);
  const virtual = useVirtual(rows.length, frame, ROW_PIXELS);
  const items = virtual.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const behind = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <section ref={frame} class="long-table" aria-label={caption} {...reachable}>
      <table aria-rowcount={rows.length + 1}>
        <caption class="kit-hidden">{caption}</caption>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <Heading key={column.title} column={column} {...ordering} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Space pixels={before} />
          {items.map(({ index }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <tr key={keyOf(row)} aria-rowindex={index + 2}>
                {columns.map(({ title, cell, isMinor }) => (
                  <td key={title} class={isMinor ? 'minor' : ''}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          <Space pixels={behind} />
        </tbody>
      </table>
    </section>
  );
}

/** Stands for the rows that are not there; one cell is enough, and makes no columns that are hidden. */
function Space({ pixels }: { pixels: number }) {
  if (pixels <= 0) return null;
  return (
    <tr class="space">
      <td style={{ height: `${pixels}px` }} />
    </tr>
  );
}

function Heading<Row>({
  column: { title, width = 'auto', sorts, isMinor },
  order = '',
  onOrder,
}: { column: LongColumn<Row> } & Partial<Order>) {
  const style = { '--width': width };
  const look = isMinor ? 'minor' : width.endsWith('%') ? 'main' : '';
  if (!sorts || !onOrder) {
    return (
      <th scope="col" style={style} class={look}>
        {title}
      </th>
    );
  }
  const { id } = sorts;
  const isUp = order === id;
  const isDown = order === `-${id}`;
  const sorted = isUp ? 'ascending' : isDown ? 'descending' : 'none';
  return (
    <th scope="col" style={style} class={look} aria-sort={sorted}>
      <button type="button" onClick={() => onOrder(isUp ? `-${id}` : id)}>
        {title}
        <span aria-hidden="true">{isUp ? ' ↑' : isDown ? ' ↓' : ''}</span>
      </button>
    </th>
  );
}
