import { expect, it } from 'vitest';
import { resultOf, verdictOn } from '../../../conformance/testing/results.ts';
import { startServer } from '../../../server/server.ts';
import { deviceRowOf, sampleResult } from '../../../simulator/testing/sample-result.ts';
import { demoSummary } from './demo-summary.ts';

const verdict = verdictOn('errors/error-says-why', { verdict: 'pass' });
const results = {
  fleet: { ...sampleResult, devices: [deviceRowOf(0)] },
  conformance: resultOf([verdict]),
};

it('the demo summary names addresses only of a server that keeps running', async () => {
  const server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent' });
  try {
    expect(demoSummary(results, server)).toContain(`URL       ${server.baseUrl}`);
  } finally {
    await server.close();
  }
  const summary = demoSummary(results, undefined);
  expect(summary).toContain('Suite: pass');
  expect(summary).not.toMatch(/URL|Console|Terminal/);
});
