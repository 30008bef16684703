/** Settings of the mutation run; only the suite detects mutants. `mutation.ts` names the files. */
import { fileURLToPath } from 'node:url';

/** By its full path, because packages are linked into the sandbox after the build. */
const compiler = fileURLToPath(
  new URL('bin/tsc', import.meta.resolve('typescript-native/package.json')),
);

export default {
  packageManager: 'npm',
  plugins: ['left-open', 'suite-runner'].map((name) =>
    fileURLToPath(new URL(`./${name}.mjs`, import.meta.url)),
  ),
  testRunner: 'suite',
  buildCommand: `node ${compiler.replaceAll(' ', '\\ ')} -p . --outDir build --emitDeclarationOnly false`,
  coverageAnalysis: 'perTest',
  // Two runners per core, because cases mostly wait while a mutant suppresses their effects.
  concurrency: 4,
  timeoutMS: 90_000,
  // The suite runs twice against two servers.
  dryRunTimeoutMinutes: 20,
  tempDirName: '.fleetbed/mutation/sandbox',
  // `npm run mutation` builds the console page, which the control listener needs to start.
  ignorePatterns: ['build', '!build/server/console/page', 'dist', '.fleetbed'],
  reporters: ['progress'],
  allowConsoleColors: false,
  ignorers: ['left-open'],
};
