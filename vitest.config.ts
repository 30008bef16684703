import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{fixtures,server,simulator,conformance,bin}/**/*.test.ts'],
    // Two cores: more workers only make the timed parts wait for each other.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
