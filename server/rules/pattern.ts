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

/** The texts together took more steps than a search is given. */
export class PatternExhausted extends PatternFault {
  override readonly name = 'PatternExhausted';
}

/** One place of a program and where it leads. */
type Step =
  | { readonly test: CharacterTest; readonly cost: number; next: number }
  | { readonly assert: 'start' | 'end'; next: number }
  | { readonly ways: number[] }
  | 'found';

const PROGRAM_STEPS_MAX = 2000;
/** For one text, in which nothing else can have its turn. */
const STEPS_IN_TEXT_MAX = 2_000_000;
/** For all patterns and texts of one search. */
const STEPS_MAX = 10_000_000;

/** The steps that all patterns of one search share: it is no matter of how fast a machine is. */
export class StepBudget {
  #left: number;

  constructor(stepsMax = STEPS_MAX) {
    this.#left = stepsMax;
  }

  /** Takes what one text may cost; what of it is not needed is to be given back. @throws PatternExhausted */
  take(): number {
    if (this.#left <= 0) throw new PatternExhausted(exhausted);
    const taken = Math.min(this.#left, STEPS_IN_TEXT_MAX);
    this.#left -= taken;
    return taken;
  }

  giveBack(steps: number): void {
    this.#left += steps;
  }
}

const exhausted =
  'takes too long to match, together with the other patterns of the search; simplify it, or search fewer devices';

/** Makes a pattern of its text. @throws PatternFault */
export function compilePattern(source: string, budget = new StepBudget()): Pattern {
  const program: Step[] = ['found'];
  const start = write(program, readPattern(source), 0);
  const run = new Run(program, start, budget);
  return { isIn: (text) => run.isIn(text) };
}

/** Writes the steps of a part that go on at `next`; the place where the part begins. */
function write(program: Step[], node: PatternNode, next: number): number {
  switch (node.kind) {
    case 'character':
      return add(program, { test: node.test, cost: node.cost, next });
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
    throw new PatternFault('is too large when its repetitions are expanded; use smaller ones');
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
  /** Here and behind the next character; made once, since nothing may be made for each. */
  readonly #places: readonly [Places, Places];
  readonly #budget: StepBudget;
  #stepsLeft = 0;

  constructor(program: readonly Step[], start: number, budget: StepBudget) {
    this.#program = program;
    this.#start = start;
    this.#reachedIn = new Uint32Array(program.length);
    this.#places = [placesOf(program), placesOf(program)];
    this.#budget = budget;
  }

  isIn(text: string): boolean {
    this.#stepsLeft = this.#budget.take();
    const isFound = this.#isIn(text);
    this.#budget.giveBack(this.#stepsLeft);
    return isFound;
  }

  #isIn(text: string): boolean {
    let [here, next] = this.#places;
    here.count = 0;
    this.#round += 1;
    for (let at = 0; ; ) {
      const character = text.codePointAt(at);
      this.#reach(here, this.#start);
      if (this.#follow(here, at === 0, character === undefined)) return true;
      if (character === undefined) return false;
      this.#consume(here, next, character);
      [here, next] = [next, here];
      at += character > 0xffff ? 2 : 1;
    }
  }

  /** Adds all places that the given ones lead to without a character; true when one is the end. */
  #follow(places: Places, isStart: boolean, isEnd: boolean): boolean {
    // What is added on the way is gone through too.
    for (let index = 0; index < places.count; index += 1) {
      this.#spend(1);
      const step = this.#program[places.at[index] ?? 0];
      if (step === undefined || step === 'found') return true;
      if ('ways' in step) for (const way of step.ways) this.#reach(places, way);
      else if ('assert' in step && (step.assert === 'start' ? isStart : isEnd)) {
        this.#reach(places, step.next);
      }
    }
    return false;
  }

  #consume(places: Places, next: Places, character: number): void {
    this.#round += 1;
    next.count = 0;
    for (let index = 0; index < places.count; index += 1) {
      const step = this.#program[places.at[index] ?? 0];
      if (step === undefined || step === 'found' || !('test' in step)) continue;
      // One comparison came with the step.
      this.#spend(step.cost - 1);
      if (step.test(character)) this.#reach(next, step.next);
    }
  }

  #reach(places: Places, place: number): void {
    if (this.#reachedIn[place] === this.#round) return;
    this.#reachedIn[place] = this.#round;
    places.at[places.count] = place;
    places.count += 1;
  }

  #spend(steps: number): void {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw new PatternExhausted(exhausted);
  }
}

/** Different places of a program, the first `count` of the array. */
interface Places {
  readonly at: Uint32Array;
  count: number;
}

function placesOf(program: readonly Step[]): Places {
  return { at: new Uint32Array(program.length), count: 0 };
}
