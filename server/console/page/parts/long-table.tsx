/**
 * A table of any length. Only the visible rows are rendered; a click on a heading sorts. Texts are
 * never cut: a cell takes as many lines as it needs. On a narrow page the cells of a row stand in
 * two lines.
 */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { useVirtual } from './use-virtual.ts';

/** Height of a row before it is measured. */
const ROW_PIXELS = 37;

/** A column of the table. With `sorts`, its heading is a button. */
export interface LongColumn<Row> {
  readonly title: string;
  /** A CSS width on a wide page. On a narrow one the column with a percentage gets the rest. */
  readonly width?: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly sorts?: { readonly id: string };
  /** True if the cell is in the second line on a narrow page. */
  readonly isMinor?: boolean;
}

/** The order of the rows: the ID of a column, with a minus before it for descending order. */
export interface TableOrder {
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
} & Partial<TableOrder>) {
  const frame = useRef<HTMLElement>(null);
  const virtual = useVirtual({
    count: rows.length,
    element: frame,
    rowHeight: ROW_PIXELS,
    keyOf: (index) => keyOf(rows[index] as Row),
  });
  const items = virtual.getVirtualItems();
  const heightBefore = items[0]?.start ?? 0;
  const heightBehind = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
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
          <Space pixels={heightBefore} />
          {items.map(({ index }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <tr
                key={keyOf(row)}
                ref={virtual.measureElement}
                data-index={index}
                aria-rowindex={index + 2}
              >
                {columns.map((column) => (
                  <td key={column.title} class={classOf(column)} data-title={column.title}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          <Space pixels={heightBehind} />
        </tbody>
      </table>
    </section>
  );
}

/** Returns the class that places a column's cells on a narrow page. */
function classOf<Row>({ width = '', isMinor }: LongColumn<Row>): string {
  if (isMinor) return 'minor';
  return width.endsWith('%') ? 'main' : '';
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
  column,
  order = '',
  onOrder,
}: { column: LongColumn<Row> } & Partial<TableOrder>) {
  const { title, width = 'auto', sorts } = column;
  const style = { '--width': width };
  const className = classOf(column);
  if (!sorts || !onOrder) {
    return (
      <th scope="col" style={style} class={className}>
        {title}
      </th>
    );
  }
  const { id } = sorts;
  const isUp = order === id;
  const isDown = order === `-${id}`;
  const sorted = isUp ? 'ascending' : isDown ? 'descending' : 'none';
  return (
    <th scope="col" style={style} class={className} aria-sort={sorted}>
      <button type="button" onClick={() => onOrder(isUp ? `-${id}` : id)}>
        {title}
        <span aria-hidden="true">{isUp ? ' ↑' : isDown ? ' ↓' : ''}</span>
      </button>
    </th>
  );
}
