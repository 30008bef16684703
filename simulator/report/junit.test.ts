import { XMLParser } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import type { FleetResult } from '../result/result.ts';
import { noUser } from '../result/result-devices.ts';
import { differenceOf, sampleResult } from '../testing/sample-result.ts';
import { fleetJunit } from './junit.ts';

const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '@' });

function suiteOf(result: FleetResult) {
  return parser.parse(fleetJunit(result)).testsuites.testsuite;
}

describe('the JUnit document of a run', () => {
  it('contains reconciliation, contact, acceptance and generator as passed tests', () => {
    const suite = suiteOf(sampleResult);
    expect(suite).toMatchObject({ '@tests': '4', '@failures': '0', '@skipped': '0' });
    expect(suite.testcase[0]).not.toHaveProperty('failure');
    expect(suite.testcase[1]).not.toHaveProperty('failure');
    expect(suite.testcase[2]).not.toHaveProperty('failure');
  });

  it('fails for a reconciliation with differences, and names every device', () => {
    const differences = [differenceOf(1), differenceOf(2)];
    const reconciliation = { ...sampleResult.reconciliation, ok: false, differences };
    const suite = suiteOf({ ...sampleResult, reconciliation });
    expect(suite['@failures']).toBe('1');
    expect(suite.testcase[0].failure['@message']).toMatch(/device 1: .*device 2: /);
  });

  it('skips the reconciliation of a run without a user', () => {
    const reason = noUser;
    const reconciliation = { ...sampleResult.reconciliation, checked: false, ok: false, reason };
    const suite = suiteOf({ ...sampleResult, reconciliation });
    expect(suite['@skipped']).toBe('1');
    expect(suite.testcase[0].skipped['@message']).toBe(`Nothing was reconciled: ${reason}.`);
  });

  it('fails when no device got a response', () => {
    const funnel = { ...sampleResult.funnel, noContact: sampleResult.funnel.devices };
    const suite = suiteOf({ ...sampleResult, funnel, operations: [] });
    expect(suite).toMatchObject({ '@failures': '1', '@skipped': '1' });
  });

  it('fails when no device was accepted, and says how to accept them', () => {
    const funnel = { ...sampleResult.funnel, pending: sampleResult.funnel.devices };
    const operations = sampleResult.operations.map((row) => ({ ...row, responses: { '4xx': 9 } }));
    const reconciliation = { ...sampleResult.reconciliation, checked: false, reason: noUser };
    const suite = suiteOf({ ...sampleResult, funnel, operations, reconciliation });
    expect(suite['@failures']).toBe('1');
    expect(suite.testcase[2].failure['@message']).toMatch(/^3 devices are not accepted: /);
  });

  it('fails when the generator made the figures invalid', () => {
    const generator = { ...sampleResult.generator, reasons: ['the event loop was busy'] };
    const suite = suiteOf({ ...sampleResult, validity: 'invalid', generator });
    expect(suite['@failures']).toBe('1');
    expect(suite.testcase[3].failure['@message']).toContain('the event loop was busy');
  });

  it('contains a test for each threshold, and fails those that are not met', () => {
    const thresholds = [
      { threshold: 'errors < 0.1%', verdict: 'met', observed: '0%' },
      { threshold: 'p99(poll) < 200ms', verdict: 'missed', observed: '812ms' },
      { threshold: '95% updated within 10m', verdict: 'inconclusive', observed: 'no update' },
    ] as const;
    const suite = suiteOf({ ...sampleResult, thresholds });
    expect(suite).toMatchObject({ '@tests': '7', '@failures': '2' });
    expect(suite.testcase[4]).not.toHaveProperty('failure');
    expect(suite.testcase[5]).toMatchObject({
      '@name': 'threshold: p99(poll) < 200ms',
      failure: { '@message': 'Threshold p99(poll) < 200ms missed: 812ms' },
    });
    expect(suite.testcase[6].failure['@message']).toContain('inconclusive: no update');
  });

  it('stays one well-formed document whatever a server sends', () => {
    const differences = [differenceOf(1, '"/><testcase name="forged"/><a b="\u0000\u001b&')];
    const reconciliation = { ...sampleResult.reconciliation, ok: false, differences };
    const suite = suiteOf({ ...sampleResult, reconciliation });
    expect(suite.testcase).toHaveLength(4);
    expect(suite.testcase[0].failure['@message']).toContain('forged');
  });
});
