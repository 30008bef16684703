import { configDefaults, defineConfig } from 'vitest/config';
import { testTools } from './bin/testing/test-tools.ts';

/** Slow tests: `npm run test:full` runs them, `npm test` does not. */
const slow = '**/*.full.test.ts';
/** Those that take minutes each: `npm run test:nightly` runs them. */
const nightly = '**/*.nightly.test.ts';
const missing = Object.values(testTools).filter(({ isThere }) => !isThere);
const exclude = [
  ...configDefaults.exclude,
  'build/**',
  'dist/**',
  '.fleetbed/**',
  ...missing.flatMap(({ files }) => files),
];
const ofAll = {
  testTimeout: 20_000,
  hookTimeout: 30_000,
  // A second, the default, is short for a browser beside other work.
  expect: { poll: { timeout: 15_000 } },
  // Files share what they import: loading it anew for each of 440 files costs more than the tests.
  isolate: false,
  globalSetup: './bin/testing/leave-nothing.ts',
};

export default defineConfig({
  test: {
    // Two cores: more workers only make the timed parts wait for each other.
    maxWorkers: 2,
    projects: [
      { test: { ...ofAll, name: 'quick', exclude: [...exclude, slow, nightly] } },
      { test: { ...ofAll, name: 'full', include: [slow], exclude } },
      { test: { ...ofAll, name: 'nightly', include: [nightly], exclude } },
    ],
  },
});
