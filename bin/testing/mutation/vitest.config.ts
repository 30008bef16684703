/** The tests of the mutation run: the suite alone, one test per case. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['bin/testing/mutation/suite-as-killer.ts'],
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
});
