/** The mutation run: which files are mutated, and the suite as their only killer. */
import { fileURLToPath } from 'node:url';

export default {
  packageManager: 'npm',
  plugins: [
    '@stryker-mutator/vitest-runner',
    fileURLToPath(new URL('./left-open.mjs', import.meta.url)),
  ],
  testRunner: 'vitest',
  vitest: {
    configFile: 'bin/testing/mutation/vitest.config.ts',
    related: false,
  },
  // Only the rules that device requests reach; the others serve the management API alone, which is
  // outside the contract, and have tests of their own.
  mutate: [
    'server/api/device/*.ts',
    'server/rules/{authentication,configuration,control-map,deployment-log,device-deployment,device-limit,identity,instruction,inventory,next-deployment,provisioning}.ts',
    '!**/*.test.ts',
  ],
  coverageAnalysis: 'perTest',
  concurrency: 2,
  timeoutMS: 60000,
  incremental: true,
  incrementalFile: '.fleetbed/mutation/incremental.json',
  tempDirName: '.fleetbed/mutation/sandbox',
  ignorePatterns: ['dist', '.fleetbed'],
  reporters: ['progress', 'json'],
  jsonReporter: {
    fileName: '.fleetbed/mutation/report.json',
  },
  allowConsoleColors: false,
  ignorers: ['left-open'],
};
