/** The mutation run: which files are mutated, and the suite as their only killer. */
import { fileURLToPath } from 'node:url';

export default {
  packageManager: 'npm',
  plugins: [
    '@stryker-mutator/vitest-runner',
    fileURLToPath(new URL('./words.mjs', import.meta.url)),
  ],
  testRunner: 'vitest',
  vitest: {
    configFile: 'bin/testing/mutation/vitest.config.ts',
    related: false,
  },
  mutate: [
    'server/endpoints/*.ts',
    'server/rules/{authentication,configuration,control-map,deployment-log,device-limit,identity,inventory,next-deployment,provisioning,status-report}.ts',
    '!**/*.test.ts',
  ],
  coverageAnalysis: 'perTest',
  concurrency: 2,
  timeoutMS: 60000,
  incremental: true,
  incrementalFile: '.fleetbed/mutation/incremental.json',
  tempDirName: '.fleetbed/mutation/sandbox',
  ignorePatterns: ['dist', '.fleetbed'],
  reporters: ['progress', 'clear-text', 'json'],
  clearTextReporter: {
    allowColor: false,
    logTests: false,
  },
  jsonReporter: {
    fileName: '.fleetbed/mutation/report.json',
  },
  thresholds: {
    high: 95,
    low: 85,
    break: 85,
  },
  allowConsoleColors: false,
  ignorers: ['words'],
};
