/** Settings of the mutation run; the suite is the only killer. `mutation.ts` names the files. */
import { fileURLToPath } from 'node:url';

export default {
  packageManager: 'npm',
  plugins: ['left-open', 'suite-runner'].map((name) =>
    fileURLToPath(new URL(`./${name}.mjs`, import.meta.url)),
  ),
  testRunner: 'suite',
  buildCommand:
    'node node_modules/typescript-native/bin/tsc -p . --outDir build --emitDeclarationOnly false',
  coverageAnalysis: 'perTest',
  // Two for each core: a mutant that is about to be caught often keeps a case waiting.
  concurrency: 4,
  timeoutMS: 90_000,
  tempDirName: '.fleetbed/mutation/sandbox',
  // `npm run mutation` has built the page, without which the control listener does not open.
  ignorePatterns: ['build', '!build/server/console/page', 'dist', '.fleetbed'],
  reporters: ['progress'],
  allowConsoleColors: false,
  ignorers: ['left-open'],
};
