/**
 * Regular expressions of users, matched by following all ways at once. The engine of the language
 * tries one way after the other, which a short pattern can make take years.
 */
import {
  type CharacterTest,
  PatternFault,
  type PatternNode,
  readPattern,
} from './pattern-syntax.ts';

/** A pattern that can be looked for in texts. */
export interface Pattern {
  /** Whether the text holds the pattern anywhere. @throws PatternExhausted */
  isIn(text: string): boolean;
}

/** The texts together took more steps than a pattern is given. */
export class PatternExhausted extends PatternFault {
  override readonly name = 'PatternExhausted';
}

/** One place of a program and where it leads. */
type Step =
  | { readonly test: CharacterTest; next: number }
  | { readonly assert: 'start' | 'end'; next: number }
  | { readonly ways: number[] }
  | 'found';

const PROGRAM_STEPS_MAX = 2000;
/** For all texts that one pattern is looked for in: well below a second. */
const STEPS_MAX = 20_000_000;

/** Makes a pattern of its text. @throws PatternFault */
export function compilePattern(source: string, stepsMax = STEPS_MAX): Pattern {
  const program: Step[] = ['found'];
  const start = write(program, readPattern(source), 0);
  const run = new Run(program, start, stepsMax);
  return { isIn: (text) => run.isIn(text) };
}

/** Writes the steps of a part that go on at `next`; the place where the part begins. */
function write(program: Step[], node: PatternNode, next: number): number {
  switch (node.kind) {
    case 'character':
      return add(program, { test: node.test, next });
    case 'start':
    case 'end':
      return add(program, { assert: node.kind, next });
    case 'sequence':
      return node.parts.reduceRight((behind, part) => write(program, part, behind), next);
    case 'choice':
      return add(program, { ways: node.parts.map((part) => write(program, part, next)) });
    case 'repeat':
      return writeRepeat(program, node, next);
  }
}

function writeRepeat(
  program: Step[],
  { part, least, most }: Extract<PatternNode, { kind: 'repeat' }>,
  next: number,
): number {
  let begin = next;
  if (Number.isFinite(most)) {
    for (let time = least; time < most; time += 1) {
      begin = add(program, { ways: [write(program, part, begin), next] });
    }
  } else {
    const loop: { readonly ways: number[] } = { ways: [next] };
    begin = add(program, loop);
    loop.ways.push(write(program, part, begin));
  }
  for (let time = 0; time < least; time += 1) begin = write(program, part, begin);
  return begin;
}

function add(program: Step[], step: Step): number {
  if (program.length >= PROGRAM_STEPS_MAX) {
    throw new PatternFault('is too large once its repetitions are written out');
  }
  return program.push(step) - 1;
}

/** Follows a program through texts, within one budget of steps. */
class Run {
  readonly #program: readonly Step[];
  readonly #start: number;
  /** By place: the round in which it was last reached. */
  readonly #reachedIn: Uint32Array;
  #round = 0;
  #stepsLeft: number;

  constructor(program: readonly Step[], start: number, stepsMax: number) {
    this.#program = program;
    this.#start = start;
    this.#reachedIn = new Uint32Array(program.length);
    this.#stepsLeft = stepsMax;
  }

  isIn(text: string): boolean {
    const characters = Array.from(text, (character) => character.codePointAt(0) ?? 0);
    let places: number[] = [];
    this.#round += 1;
    for (let at = 0; at <= characters.length; at += 1) {
      const edges = { start: at === 0, end: at === characters.length };
      this.#reach(places, this.#start);
      if (this.#follow(places, edges)) return true;
      places = this.#consume(places, characters[at]);
    }
    return false;
  }

  /** Adds all places that the given ones lead to without a character; true when one is the end. */
  #follow(places: number[], edges: { readonly start: boolean; readonly end: boolean }): boolean {
    // What is added on the way is gone through too.
    for (const place of places) {
      this.#spend();
      const step = this.#program[place];
      if (step === undefined || step === 'found') return true;
      if ('ways' in step) for (const way of step.ways) this.#reach(places, way);
      else if ('assert' in step && edges[step.assert]) this.#reach(places, step.next);
    }
    return false;
  }

  #consume(places: readonly number[], character: number | undefined): number[] {
    this.#round += 1;
    const next: number[] = [];
    if (character === undefined) return next;
    for (const place of places) {
      const step = this.#program[place];
      if (step === undefined || step === 'found' || !('test' in step)) continue;
      if (step.test(character)) this.#reach(next, step.next);
    }
    return next;
  }

  #reach(places: number[], place: number): void {
    if (this.#reachedIn[place] === this.#round) return;
    this.#reachedIn[place] = this.#round;
    places.push(place);
  }

  #spend(): void {
    this.#stepsLeft -= 1;
    if (this.#stepsLeft < 0)
      throw new PatternExhausted('takes too long on all these values; make it simpler');
  }
}
