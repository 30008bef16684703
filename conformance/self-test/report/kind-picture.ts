/** Draws the committed results of generated defects: a row per operation, a column per kind. */
import { escapeMarkup } from '../../../fixtures/base/markup.ts';
import { readCommittedResult } from '../committed-result.ts';
import { allDefects } from '../defects/index.ts';
import { kindOf } from '../matrix.ts';
import { kindTable } from './kind-table.ts';

const CELL_PX = 22;
const LABEL_PX = 250;
const HEAD_PX = 190;

const style = `
  text { font: 11px system-ui, sans-serif; fill: #1f2328; }
  .count { font-size: 10px; text-anchor: middle; fill: #fff; }
  .operation { text-anchor: end; }
  .all { fill: #1a7f37; }
  .some { fill: #b3261e; }
  .none { fill: #eaeef2; }
`;

/** Returns an SVG. Each cell shows the number of planted defects, in red if one was not killed. */
export function kindSvg(): string {
  const outcomes = new Map(readCommittedResult().defects.map(({ id, outcome }) => [id, outcome]));
  const { kinds, operations } = kindTable({
    rows: allDefects.map((defect) => ({
      ...kindOf(defect),
      outcome: outcomes.get(defect.id) ?? 'unexercised',
    })),
  });
  const width = LABEL_PX + kinds.length * CELL_PX + HEAD_PX;
  const height = HEAD_PX + operations.length * CELL_PX;
  const heads = kinds.map((kind, column) => {
    const x = LABEL_PX + (column + 0.7) * CELL_PX;
    const y = HEAD_PX - 6;
    return `<text transform="translate(${x} ${y}) rotate(-60)">${escapeMarkup(kind)}</text>`;
  });
  const rows = operations.map(({ operation, cells }, row) => {
    const y = HEAD_PX + row * CELL_PX;
    const label = `<text class="operation" x="${LABEL_PX - 6}" y="${y + 15}">${escapeMarkup(operation)}</text>`;
    const squares = cells.map((cell, column) => {
      const x = LABEL_PX + column * CELL_PX;
      const colour = !cell ? 'none' : cell.killed === cell.planted ? 'all' : 'some';
      const square = `<rect class="${colour}" x="${x + 1}" y="${y + 1}" width="${CELL_PX - 2}" height="${CELL_PX - 2}"/>`;
      if (!cell) return square;
      return `${square}<text class="count" x="${x + CELL_PX / 2}" y="${y + 15}">${cell.planted}</text>`;
    });
    return `${label}${squares.join('')}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>Generated defects by operation and kind: killed of planted</title>
<style>${style}</style>
<rect width="100%" height="100%" fill="#fff"/>
${[...heads, ...rows].join('\n')}
</svg>
`;
}
