/** A section of the page with lines, pairs, tables and evidence. */
import { Badge } from '../../../fixtures/page/badge.tsx';
import { Card } from '../../../fixtures/page/card.tsx';
import { Facts } from '../../../fixtures/page/facts.tsx';
import { Group } from '../../../fixtures/page/group.tsx';
import { Table } from '../../../fixtures/page/table.tsx';
import type { ShownCell, ShownSection, ShownTable } from '../page-facts.ts';

/** Renders a section with its title. A section with `isDetail` is collapsed at first. */
export function Section({ section }: { section: ShownSection }) {
  const { id, title, isDetail = false } = section;
  if (isDetail) {
    return (
      <Group id={id} summary={<h2 class="detail-title">{title}</h2>}>
        <div class="inside">
          <Content section={section} />
        </div>
      </Group>
    );
  }
  return (
    <div id={id}>
      <Card title={title}>
        <Content section={section} />
      </Card>
    </div>
  );
}

function Content({ section }: { section: ShownSection }) {
  const { lines = [], pairs = [], tables = [], evidence = [] } = section;
  return (
    <div class="report-stack">
      {lines.map((line, index) => (
        <p key={`${index} ${textOf(line)}`}>
          <Cell cell={line} />
        </p>
      ))}
      {evidence.map(({ line, text }) => (
        <Group
          key={line}
          summary={
            <>
              <Badge tone="negative">violated</Badge> {line}
            </>
          }
        >
          <pre>{text}</pre>
        </Group>
      ))}
      {pairs.length > 0 && <Facts rows={pairs} />}
      {tables.map((table) => (
        <Block key={table.caption} table={table} />
      ))}
    </div>
  );
}

function Block({ table }: { table: ShownTable }) {
  const { caption, columns, rows, isClosed = false } = table;
  if (rows.length === 0) return <p class="report-hint">{caption}: nothing to show.</p>;
  const fullTable = (
    <Table
      caption={caption}
      isCaptionHidden={isClosed}
      rows={rows}
      keyOf={(_, index) => index}
      columns={columns.map((title, column) => ({
        title,
        cell: (row: readonly ShownCell[]) => <Cell cell={row[column] ?? ''} />,
      }))}
    />
  );
  if (!isClosed) return fullTable;
  return (
    <Group summary={caption}>
      <div class="inside">{fullTable}</div>
    </Group>
  );
}

function Cell({ cell }: { cell: ShownCell }) {
  if (typeof cell === 'string') return <>{cell}</>;
  return <Badge tone={cell.tone}>{cell.word}</Badge>;
}

function textOf(cell: ShownCell): string {
  return typeof cell === 'string' ? cell : cell.word;
}
