/** Parses the configuration file: sections with entries, each with its place for errors. */
import { isMap, isScalar, isSeq, type Pair, type Scalar, type YAMLMap } from 'yaml';
import { type BoundedDocument, boundedDocument } from '../../fixtures/base/yaml-document.ts';
import { CommandError } from '../output/command-error.ts';
import { exitCodes } from '../output/exit-codes.ts';

/** A configuration file with a section for each command. */
export interface ConfigFile {
  readonly path: string;
  /** The entries of the section of a command; the name is the path of the command. */
  readonly section: (name: string) => readonly Entry[];
  readonly names: readonly string[];
  /** Returns an error about a section. */
  readonly wrongSection: (name: string, sentence: string) => CommandError;
}

/** An option of a section. */
export interface Entry {
  readonly section: string;
  /** An option without its dashes. */
  readonly name: string;
  /** The texts of the option, one for each use; a boolean for a switch. */
  readonly value: boolean | readonly string[];
  readonly wrong: (sentence: string) => CommandError;
}

/** Parses the text of a configuration file. @throws CommandError with file, line and column */
export function parseConfig(path: string, text: string): ConfigFile {
  const yamlDocument = boundedDocument(text);
  if ('problems' in yamlDocument) {
    const [{ line, column, message } = { line: 1, column: 1, message: 'it cannot be read' }] =
      yamlDocument.problems;
    throw fileError(`${path}:${line}:${column}: ${message}`);
  }
  const wrongAt = (node: unknown, sentence: string) =>
    fileError(`${positionOf(path, yamlDocument, node)}: ${sentence}`);
  const { contents } = yamlDocument.document;
  const isEmpty = contents === null || (isScalar(contents) && contents.value === null);
  if (!isEmpty && !isMap(contents)) {
    throw wrongAt(contents, 'the file must have a section for each command, such as serve:');
  }
  const sections = new Map<string, { readonly key: unknown; readonly entries: Entry[] }>();
  for (const { key, value } of isMap(contents) ? contents.items : []) {
    const name = keyOf({ key });
    if (name === '$schema') continue;
    if (!isMap(value))
      throw wrongAt(key, `${name}: must have options, such as ${name}: {quiet: true}`);
    sections.set(name, { key, entries: entriesOf(name, value, wrongAt) });
  }
  return {
    path,
    names: [...sections.keys()],
    section: (name) => sections.get(name)?.entries ?? [],
    wrongSection: (name, sentence) => wrongAt(sections.get(name)?.key, sentence),
  };
}

function keyOf({ key }: Pick<Pair, 'key'>): string {
  return isScalar(key) ? String(key.value) : '';
}

function positionOf(path: string, { positionIn }: BoundedDocument, node: unknown): string {
  const range = isScalar(node) || isMap(node) || isSeq(node) ? node.range : undefined;
  const { line, column } = positionIn(range?.[0] ?? 0);
  return `${path}:${line}:${column}`;
}

function entriesOf(
  section: string,
  map: YAMLMap,
  wrongAt: (node: unknown, sentence: string) => CommandError,
): Entry[] {
  return map.items.map(({ key, value }) => {
    const name = keyOf({ key });
    const wrong = (sentence: string) => wrongAt(key, `${section}: ${name}: ${sentence}`);
    if (isScalar(value) && typeof value.value === 'boolean') {
      return { section, name, value: value.value, wrong };
    }
    const texts = textsOf(value);
    if (texts === undefined)
      throw wrong('must be a string, a number, true or false, or a list of them');
    return { section, name, value: texts, wrong };
  });
}

/** Returns the texts of a value: one, those of a list, or `name=value` for each member of a map. */
function textsOf(value: unknown): readonly string[] | undefined {
  if (isScalar(value)) return value.value === null ? undefined : [textOf(value)];
  const isPlain = (each: unknown): each is Scalar => isScalar(each) && each.value !== null;
  if (isSeq(value)) return value.items.every(isPlain) ? value.items.map(textOf) : undefined;
  if (!isMap(value)) return undefined;
  const pairs = value.items.map((pair) => ({ name: keyOf(pair), value: pair.value }));
  return pairs.every((pair): pair is { name: string; value: Scalar } => isPlain(pair.value))
    ? pairs.map((pair) => `${pair.name}=${textOf(pair.value)}`)
    : undefined;
}

/** Returns a value as it is written, so that `1e3` or `007` stay what they are. */
function textOf({ value, source }: Scalar): string {
  return typeof value === 'string' ? value : (source ?? String(value));
}

function fileError(sentence: string): CommandError {
  return new CommandError(sentence, exitCodes.setUp);
}
