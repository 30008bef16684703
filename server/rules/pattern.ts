/**
 * Regular expressions of users, in RE2 syntax. JavaScript's engine backtracks,
 * so a short pattern can take years; RE2 runs in linear time.
 */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

const require = createRequire(import.meta.url);

/** A pattern that can be looked for in texts. */
export interface Pattern {
  /** True when the text holds the pattern anywhere. @throws PatternError when the budget is used up */
  isIn(text: string): boolean;
}

/** Why a pattern is refused; the message is the end of a sentence that begins with the pattern. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const PROGRAM_STEPS_MAX = 2000;
/** For one text, in which nothing else can have its turn: at worst, of 50 ns each. */
const STEPS_IN_TEXT_MAX = 2_500_000;
/** What each step of a program takes to be made. */
const MAKING_STEPS = 250;
/** For all patterns and texts of one search. */
const STEPS_MAX = 25_000_000;

/**
 * The steps that all patterns of one search share. A text is charged what it takes at worst, every
 * step of the program at every character, so that the speed of the machine decides nothing.
 */
export class StepBudget {
  #left: number;

  constructor(stepsMax = STEPS_MAX) {
    this.#left = stepsMax;
  }

  /** @throws PatternError when fewer steps are left */
  spend(steps: number): void {
    this.#left -= steps;
    if (steps <= STEPS_IN_TEXT_MAX && this.#left >= 0) return;
    throw new PatternError(
      'takes too long to match with the other patterns of the search; simplify it, or search fewer devices',
    );
  }
}

/** Makes a pattern of its text. @throws PatternError */
export function compilePattern(source: string, budget = new StepBudget()): Pattern {
  const program = compiled(source);
  const size = program.programSize();
  if (size > PROGRAM_STEPS_MAX) {
    throw new PatternError(
      'is too large when its repetitions are expanded; use smaller repetitions',
    );
  }
  budget.spend(size * MAKING_STEPS);
  return {
    isIn: (text) => {
      budget.spend(size * (text.length + 1));
      return program.test(text);
    },
  };
}

/** Loaded at the first pattern, as most servers never see one; it takes long to be read. */
function engine(): typeof import('re2js') {
  return require('re2js');
}

function compiled(source: string): RE2JS {
  const { RE2JS, RE2JSException, RE2JSSyntaxException } = engine();
  try {
    return RE2JS.compile(source);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const isSyntax = error instanceof RE2JSSyntaxException;
    const place = isSyntax && error.getPattern() ? `: ${error.getPattern()}` : '';
    const what = isSyntax ? error.getDescription() : error.message;
    throw new PatternError(`is not valid RE2 syntax: ${what}${place}`);
  }
}
