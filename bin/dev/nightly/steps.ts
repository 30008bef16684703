/** The steps of the nightly run. */

/** A step: the arguments of a Node program, and a pattern for the lines of its output to record. */
export interface NightlyCommand {
  readonly name: string;
  readonly args: readonly string[];
  readonly figures: RegExp;
}

const selfTest = ['dist/bin/fleetbed.js', 'conform', 'self-test', '--processes', '2'];
/** The steps of the nightly run, in order. */
export const nightlySteps: readonly NightlyCommand[] = [
  {
    name: 'self-test',
    // A sample larger than the number of defects: every defect runs, and the committed result is
    // rewritten.
    args: [...selfTest, '--update-result', '--sample', '100000'],
    figures: /^\d+ cases, \d+ defects: .*$/gm,
  },
  {
    name: 'random alterations',
    args: [...selfTest, '--fuzz', '500'],
    figures: /^\d+ (alterations violate|violate|are conforming).*$/gm,
  },
  {
    name: 'slow tests',
    // Includes the tests that take minutes; `npm run test:full` leaves these out and runs a sixth
    // of the others.
    args: ['node_modules/vitest/vitest.mjs', 'run', '--project', 'full', '--project', 'nightly'],
    figures: /^ *(Test Files|Tests) .*$/gm,
  },
  {
    name: 'mutants',
    args: ['build/bin/testing/mutation/mutation.js', '--age'],
    figures: /^mutants of .*$/gm,
  },
  { name: 'soak', args: ['build/bin/dev/soak/soak.js'], figures: /^\w+: \d+ problems$/gm },
];

/** The names of the steps, which the result of a nightly run must hold. */
export const nightlyNames: readonly string[] = nightlySteps.map(({ name }) => name);
