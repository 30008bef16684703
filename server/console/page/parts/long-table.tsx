/** A table of any length. Only the visible rows are rendered; a click on a heading sorts. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { useVirtual } from './use-virtual.ts';

const ROW_PIXELS = 37;

/** A column of the table. With `sorts`, its heading is a button. */
export interface LongColumn<Row> {
  readonly title: string;
  /**
   * A CSS width. On a narrow page the column whose width is a percentage gets the remaining width.
   */
  readonly width?: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly sorts?: { readonly id: string };
  /** True if the column is hidden on a narrow page. */
  readonly isMinor?: boolean;
}

/** The order of the rows: the id of a column, with a minus before it for descending order. */
export interface Order {
  readonly order: string;
  readonly onOrder: (order: string) => void;
}

/** A scrolling element must be reachable by keyboard. */
const reachable = { tabIndex: 0 };

/** Renders the table, which scrolls within itself. */
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

/**
 * Takes the space of the rows that are not rendered. It has a single cell, so that hidden columns
 * do not appear.
 */
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
