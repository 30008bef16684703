/** Tables without borders, which leave the width to the texts and can be parsed by other programs. */
import Table from 'cli-table3';

const noBorders = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  left: '',
  'left-mid': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  right: '',
  mid: '',
  'mid-mid': '',
  'right-mid': '',
  middle: '  ',
};

/** Returns a table of one line per row below its header. Cells must be printable. */
export function borderlessTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const table = new Table({
    head: [...head],
    chars: noBorders,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString();
}
