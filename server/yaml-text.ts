/** Reads YAML (and so JSON) that people write by hand; every fault is told with line and column. */
import * as v from 'valibot';
import { type Document, isMap, isNode, LineCounter, parseDocument } from 'yaml';

/** A place in a text; both count from 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/** What is wrong in a text, and where. */
export interface YamlFault extends Place {
  readonly message: string;
}

/** The checked content, and where the value of a path in it stands; or what is wrong, the first first. */
export type ReadYaml<Content> =
  | { readonly content: Content; readonly placeOf: (path: readonly unknown[]) => Place }
  | { readonly faults: readonly YamlFault[] };

/** Hand-written files are small; larger ones are a mistake or an attack. */
const TEXT_MAX_CHARACTERS = 1024 * 1024;
const FAULTS_MAX = 20;
const MESSAGE_MAX_CHARACTERS = 500;
const start: Place = { line: 1, column: 1 };

/** Reads a text of at most 1 MiB. */
export function readYaml<const Shape extends v.GenericSchema>(
  text: string,
  shape: Shape,
): ReadYaml<v.InferOutput<Shape>> {
  if (text.length > TEXT_MAX_CHARACTERS) {
    const message = `the text has more than ${TEXT_MAX_CHARACTERS} characters`;
    return { faults: [{ ...start, message }] };
  }
  try {
    return readBounded(text, shape);
  } catch (fault) {
    // The library's way to refuse aliases without end, and Node's to refuse lists without end.
    if (!(fault instanceof ReferenceError || fault instanceof RangeError)) throw fault;
    return { faults: [{ ...start, message: `the text cannot be read: ${fault.message}` }] };
  }
}

function readBounded<const Shape extends v.GenericSchema>(
  text: string,
  shape: Shape,
): ReadYaml<v.InferOutput<Shape>> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const unreadable = document.errors.map(({ message, pos }) => ({
    ...placeIn(lines, pos[0]),
    message,
  }));
  if (unreadable.length > 0) return { faults: unreadable.slice(0, FAULTS_MAX) };
  const checked = v.safeParse(shape, document.toJS());
  if (checked.success) {
    const placeOf = (path: readonly unknown[]) =>
      placeIn(lines, offsetOf(document, { path, isName: false }));
    return { content: checked.output, placeOf };
  }
  // A misspelt member is missing too; what was written is the better hint.
  const issues = checked.issues.toSorted((a, b) => Number(isStranger(b)) - Number(isStranger(a)));
  return {
    faults: issues.slice(0, FAULTS_MAX).map((issue) => {
      const path = (issue.path ?? []).map(({ key }) => key);
      const offset = offsetOf(document, { path, isName: isStranger(issue) });
      const where = path.length === 0 ? '' : `${path.join('.')}: `;
      const message = `${where}${sentenceOf(issue)}`.slice(0, MESSAGE_MAX_CHARACTERS);
      return { ...placeIn(lines, offset), message };
    }),
  };
}

/** True when nobody knows a member of this name. */
function isStranger({ expected }: v.BaseIssue<unknown>): boolean {
  return expected === 'never';
}

function sentenceOf(issue: v.BaseIssue<unknown>): string {
  const { type, kind, expected, received, message } = issue;
  if (!message.startsWith('Invalid ')) return message;
  if (expected === 'never') return 'is unknown here';
  if (received === 'undefined' && kind === 'schema') return 'is required';
  if (type === 'variant')
    return `must be one of ${expected?.replace(/[()]/g, '').replaceAll(' | ', ', ')}`;
  return `must be ${expected}, not ${received}`;
}

function placeIn(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** Where the value of a path begins, or its name; of a member that is missing, what it is missing from. */
function offsetOf(
  document: Document.Parsed,
  { path, isName }: { path: readonly unknown[]; isName: boolean },
): number {
  const parent = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents;
  const own = isMap(parent)
    ? parent.items.find(({ key }) => String(key) === String(path.at(-1)))
    : undefined;
  if (isName && isNode(own?.key) && own.key.range) return own.key.range[0];
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return document.contents?.range[0] ?? 0;
}
