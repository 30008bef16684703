/**
 * Matches users' regular expressions in RE2 syntax. JavaScript's engine backtracks, so a short
 * pattern could run for years; RE2 runs in linear time.
 */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

const require = createRequire(import.meta.url);

/** A compiled regular expression. */
export interface Pattern {
  /**
   * Returns true when a part of the text matches.
   * @throws PatternError when the budget is used up
   */
  isIn(text: string): boolean;
}

/** A refused pattern; the message continues a sentence that begins with the pattern. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const PROGRAM_STEPS_MAX = 2000;
/** Maximum steps for one text, which cannot be interrupted; a step takes at most 50 ns. */
const STEPS_IN_TEXT_MAX = 2_500_000;
/** Cost of compiling one step of a program, in steps. */
const MAKING_STEPS = 250;
/** Maximum steps for all patterns and texts of one search. */
const STEPS_MAX = 25_000_000;

/**
 * The steps that all patterns of one search share. A string is charged its worst case, every step of
 * the program at every character, so that the result does not depend on the speed of the machine.
 */
export class StepBudget {
  #left: number;

  constructor(stepsMax = STEPS_MAX) {
    this.#left = stepsMax;
  }

  /** @throws PatternError when fewer steps are left, or `steps` exceeds the limit of one text */
  spend(steps: number): void {
    this.#left -= steps;
    if (steps <= STEPS_IN_TEXT_MAX && this.#left >= 0) return;
    throw new PatternError(
      'takes too long to match with the other patterns of the search; simplify it, or search fewer devices',
    );
  }
}

/**
 * Compiles a pattern.
 * @throws PatternError when it is invalid, too large, or exceeds the budget
 */
export function compilePattern(source: string, budget = new StepBudget()): Pattern {
  const program = compileRe2(source);
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

/** Loaded on first use: the module is slow to load, and most servers never need it. */
function engine(): typeof import('re2js') {
  return require('re2js');
}

function compileRe2(source: string): RE2JS {
  const { RE2JS, RE2JSException, RE2JSSyntaxException } = engine();
  try {
    return RE2JS.compile(source);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const isSyntax = error instanceof RE2JSSyntaxException;
    const detail = isSyntax && error.getPattern() ? `: ${error.getPattern()}` : '';
    const problem = isSyntax ? error.getDescription() : error.message;
    throw new PatternError(`is not valid RE2 syntax: ${problem}${detail}`);
  }
}
