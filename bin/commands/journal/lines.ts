/** Formats journal entries as lines of text. */
import { printable } from '../../../fixtures/base/printable.ts';
import type { Output } from '../../output/output.ts';

/** An entry as the control listener shows it. */
export interface ShownEntry {
  readonly sequence: number;
  readonly kind: 'exchange' | 'frame' | 'unparsable';
  /** Time of the entry: ISO 8601 in UTC. */
  readonly at: string;
  readonly [name: string]: unknown;
}

const LINE_MAX_CHARACTERS = 1000;
const arrows = { client: '->', server: '<-' } as const;

/** Returns the entry as one line without terminal control characters. */
function entryLine(entry: ShownEntry): string {
  const { sequence, kind, at } = entry;
  const columns = [`${sequence}`, at.replace(/^.*T/, ''), ...columnsOf[kind](entry)];
  const { identity, id } = (entry.device ?? {}) as { identity?: string; id?: string };
  if (identity !== undefined || id !== undefined) columns.push(`device ${identity ?? id}`);
  return printable(columns.filter((word) => word !== '').join('  '), LINE_MAX_CHARACTERS);
}

const columnsOf: Record<ShownEntry['kind'], (entry: ShownEntry) => string[]> = {
  exchange: ({ method, status, operation, path, tookMs, deployment, report, cut, ...rest }) => {
    const refusal = rest.refusal as { error: string } | undefined;
    const noUpdate = rest.noUpdate as { outcome: string; reason: string } | undefined;
    const fault = rest.fault as { name: string; act: string } | undefined;
    const varied = rest.varied as readonly { id: string }[] | undefined;
    return [
      `${method} ${status === 0 ? '---' : status}`,
      [operation ?? path, report].filter((word) => word !== undefined).join(' '),
      `${tookMs} ms`,
      deployment === undefined ? '' : `deployment ${deployment}`,
      cut === true ? cutText(status, rest.responseBytes) : '',
      fault ? `fault ${fault.name}: ${fault.act}` : '',
      varied ? `varied ${varied.map(({ id }) => id).join(', ')}` : '',
      refusal ? `refused: ${refusal.error}` : '',
      noUpdate ? `${noUpdate.outcome}: ${noUpdate.reason}` : '',
    ];
  },
  frame: ({ socket, from, opcode, code, proto, typ, sid, bytes, reason, problem }) => [
    `${socket} ${arrows[from as keyof typeof arrows]} server`,
    opcode === 'message'
      ? `${proto ?? 'no'}/${typ ?? 'message'}`
      : `${opcode} ${code ?? ''}`.trim(),
    sid === undefined ? '' : `session ${sid}`,
    opcode === 'close' ? '' : `${bytes} bytes`,
    `${reason ?? problem ?? ''}`,
  ],
  unparsable: ({ status, refusal }) => [
    `not HTTP ${status === 0 ? '---' : status}`,
    `refused: ${(refusal as { error: string }).error}`,
  ],
};

function cutText(status: unknown, bytes: unknown): string {
  return status === 0 ? 'cut' : `cut after ${bytes} bytes`;
}

/** Prints an entry as one line of JSON or of text. */
export function show(entry: ShownEntry, output: Output): void {
  if (output.json) output.data(entry);
  else output.line(entryLine(entry));
}
