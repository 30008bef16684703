/**
 * Generates the worst inputs of a regular expression from its source: for every repetition a prefix
 * that leads there, the piece repeated, and an end that does not match; and inputs in which prefix
 * and piece start over and over.
 */

/** Returns a string of at least this length. */
export type WorstInput = (length: number) => string;

/** Greatest bound of a repetition that does not count as growth. */
const HARMLESS_REPEATS = 10;
/** Number of samples for a piece that has several spellings. */
const SPELLINGS = 4;
/** Endings that hardly any expression matches, and an empty one. */
const endings = ['', '\0', '\n!', '"'];
const candidates = [
  ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)),
  ...['\n', '\r', '\t', '\0', '\u00e9', '\u0416', '\u2028', '\ufffd', '\u200b', '\u{1f600}'],
];
/** Character classes that `\b`, `^` and `$` test without an atom. */
const boundaries = [/\w/, /\s/, /[\r\n]/];

type ExpressionNode =
  | { readonly kind: 'atom'; readonly spellings: readonly string[] }
  | { readonly kind: 'sequence'; readonly items: readonly ExpressionNode[] }
  | { readonly kind: 'choice'; readonly options: readonly ExpressionNode[] }
  | { readonly kind: 'group'; readonly body: ExpressionNode; readonly number: number }
  | { readonly kind: 'look'; readonly body: ExpressionNode }
  | { readonly kind: 'again'; readonly group: () => ExpressionNode | undefined }
  | {
      readonly kind: 'repeat';
      readonly body: ExpressionNode;
      readonly min: number;
      readonly max: number;
    };

/** Returns every worst input of an expression; empty when it has no repetition. */
export function worstInputs(expression: RegExp): WorstInput[] {
  const tree = new ExpressionParser(expression).parse();
  const inputsByName = new Map<string, WorstInput>();
  const add = (name: string, input: WorstInput): void => void inputsByName.set(name, input);
  const spellings = spellingsOf(tree);
  for (const { prefix, pump } of pumpsOf(tree, '')) {
    for (const end of endings) {
      add(JSON.stringify([prefix, pump, end]), (length) => prefix + fillText(pump, length) + end);
      const both = prefix + pump;
      add(JSON.stringify([both, end]), (length) => fillText(both, length) + end);
    }
    add(
      JSON.stringify(['half', prefix, pump]),
      (length) => fillText(prefix + pump, length / 2) + fillText(pump, length / 2),
    );
  }
  if (inputsByName.size === 0) return [];
  for (const text of spellings) {
    for (const chunk of [text, text.slice(0, -1)]) {
      if (chunk !== '') add(JSON.stringify([chunk]), (length) => fillText(chunk, length));
    }
  }
  return [...inputsByName.values()];
}

function fillText(chunk: string, length: number): string {
  return chunk === '' ? '' : chunk.repeat(Math.ceil(length / chunk.length));
}

interface Pump {
  readonly prefix: string;
  readonly pump: string;
}

/** Returns every piece that may repeat without limit, with a string that leads to it. */
function pumpsOf(node: ExpressionNode, prefix: string): Pump[] {
  switch (node.kind) {
    case 'sequence': {
      let led = prefix;
      return node.items.flatMap((item) => {
        const pumps = pumpsOf(item, led);
        led += spelling(item, 0);
        return pumps;
      });
    }
    case 'choice':
      return node.options.flatMap((option) => pumpsOf(option, prefix));
    case 'group':
    case 'look':
      return pumpsOf(node.body, prefix);
    case 'repeat': {
      const inner = pumpsOf(node.body, prefix);
      if (node.max <= HARMLESS_REPEATS) return inner;
      return [...spellingsOf(node.body).map((pump) => ({ prefix, pump })), ...inner];
    }
    default:
      return [];
  }
}

function spellingsOf(node: ExpressionNode): string[] {
  const count = Math.max(SPELLINGS, node.kind === 'atom' ? node.spellings.length : 0);
  return [...new Set(Array.from({ length: count }, (_, which) => spelling(node, which)))];
}

/** Returns one text that the node matches. @param which selects one of several spellings */
function spelling(node: ExpressionNode | undefined, which: number): string {
  switch (node?.kind) {
    case 'atom':
      return node.spellings[which % Math.max(1, node.spellings.length)] ?? '';
    case 'sequence':
      return node.items.map((item, index) => spelling(item, which + (which && index))).join('');
    case 'choice':
      return spelling(node.options[which % node.options.length], which);
    case 'group':
      return spelling(node.body, which);
    case 'again':
      return spelling(node.group(), which);
    case 'repeat':
      return spelling(node.body, which).repeat(Math.max(node.min, Math.min(node.max, 1)));
    default:
      return '';
  }
}

/** Parses the source of an expression, as far as its repetitions require. */
class ExpressionParser {
  readonly #source: string;
  readonly #flags: string;
  readonly #groups: ExpressionNode[] = [];
  readonly #characters: readonly string[];
  #at = 0;

  constructor({ source, flags }: RegExp) {
    this.#source = source;
    this.#flags = flags.replace(/[gyd]/g, '');
    const atoms = this.#atomsOf();
    const characters = new Map<string, string>();
    for (const character of candidates) {
      const signature = [...atoms, ...boundaries].map((atom) => Number(atom.test(character)));
      const sameCharacter = characters.get(signature.join(''));
      if (sameCharacter === undefined) characters.set(signature.join(''), character);
    }
    this.#characters = [...characters.values()];
    this.#at = 0;
    this.#groups.length = 0;
  }

  parse(): ExpressionNode {
    return this.#choice();
  }

  /**
   * Returns every atom of the expression, to derive the character classes that it distinguishes.
   */
  #atomsOf(): RegExp[] {
    const chunks =
      this.#source.match(/\[(?:\\[\s\S]|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\[\s\S]|[\s\S]/g) ?? [];
    return chunks.flatMap((chunk) => this.#matcher(chunk) ?? []);
  }

  #matcher(atom: string): RegExp | undefined {
    try {
      return new RegExp(`^(?:${atom})$`, this.#flags);
    } catch {
      return undefined;
    }
  }

  #choice(): ExpressionNode {
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    return { kind: 'choice', options };
  }

  #sequence(): ExpressionNode {
    const items: ExpressionNode[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] ?? '')) {
      items.push(this.#quantifiedNode(this.#item()));
    }
    return { kind: 'sequence', items };
  }

  #quantifiedNode(body: ExpressionNode): ExpressionNode {
    const quantifier = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(this.#source.slice(this.#at));
    if (!quantifier) return body;
    this.#at += quantifier[0].length;
    const [, sign, from = '', comma, to] = quantifier;
    if (sign) {
      const max = sign === '?' ? 1 : Number.POSITIVE_INFINITY;
      return { kind: 'repeat', body, min: sign === '+' ? 1 : 0, max };
    }
    const open = to === '' ? Number.POSITIVE_INFINITY : Number(to);
    return { kind: 'repeat', body, min: Number(from), max: comma ? open : Number(from) };
  }

  #item(): ExpressionNode {
    const remainingSource = this.#source.slice(this.#at);
    const look = /^\(\?<?[=!]/.exec(remainingSource);
    if (look) return { kind: 'look', body: this.#inside(look[0].length) };
    const open = /^\((\?:|\?<\w+>)?/.exec(remainingSource);
    if (open) {
      const number = open[1] === '?:' ? -1 : this.#groups.length;
      if (number >= 0) this.#groups.push({ kind: 'sequence', items: [] });
      const group: ExpressionNode = { kind: 'group', body: this.#inside(open[0].length), number };
      if (number >= 0) this.#groups[number] = group;
      return group;
    }
    const back = /^\\([1-9])/.exec(remainingSource);
    if (back) {
      this.#at += back[0].length;
      return { kind: 'again', group: () => this.#groups[Number(back[1]) - 1] };
    }
    const [atom = ''] =
      /^(?:\[(?:\\[\s\S]|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\[\s\S]|[\s\S])/i.exec(
        remainingSource,
      ) ?? [];
    this.#at += atom.length;
    return { kind: 'atom', spellings: this.#spellingsOf(atom) };
  }

  #spellingsOf(atom: string): string[] {
    if (['^', '$', '\\b', '\\B'].includes(atom)) return [];
    const matches = this.#matcher(atom);
    const fitting = this.#characters.filter((character) => matches?.test(character));
    return fitting.length > 0
      ? fitting
      : candidates.filter((one) => matches?.test(one)).slice(0, 2);
  }

  #inside(opening: number): ExpressionNode {
    this.#at += opening;
    const body = this.#choice();
    this.#take(')');
    return body;
  }

  #take(character: string): boolean {
    if (this.#source[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }
}
