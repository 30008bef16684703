/** Settings of the mutation run; only the suite detects mutants. `mutation.ts` names the files. */
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
  // Two runners per core, because cases mostly wait while a mutant suppresses their effects.
  concurrency: 4,
  timeoutMS: 90_000,
  tempDirName: '.fleetbed/mutation/sandbox',
  // `npm run mutation` builds the console page, which the control listener needs to start.
  ignorePatterns: ['build', '!build/server/console/page', 'dist', '.fleetbed'],
  reporters: ['progress'],
  allowConsoleColors: false,
  ignorers: ['left-open'],
};
