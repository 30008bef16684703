/** The mutation run: which files are mutated, and the suite as their only killer. */
import { fileURLToPath } from 'node:url';

export default {
  packageManager: 'npm',
  plugins: ['left-open', 'suite-runner'].map((name) =>
    fileURLToPath(new URL(`./${name}.mjs`, import.meta.url)),
  ),
  testRunner: 'suite',
  buildCommand: 'tsc -p .',
  // Only the rules that device requests reach; the others serve the management API alone, which is
  // outside the contract, and have tests of their own.
  mutate: [
    'server/api/device/*.ts',
    'server/rules/{authentication,configuration,control-map,deployment-log,device-deployment,device-limit,identity,instruction,inventory,next-deployment,provisioning}.ts',
    '!**/*.test.ts',
  ],
  coverageAnalysis: 'perTest',
  // Two for each core: a mutant that is about to be caught often keeps a case waiting.
  concurrency: 4,
  timeoutMS: 20_000,
  incremental: true,
  incrementalFile: '.fleetbed/mutation/incremental.json',
  tempDirName: '.fleetbed/mutation/sandbox',
  ignorePatterns: ['build', 'dist', '.fleetbed'],
  reporters: ['progress', 'json'],
  jsonReporter: {
    fileName: '.fleetbed/mutation/report.json',
  },
  allowConsoleColors: false,
  ignorers: ['left-open'],
};
