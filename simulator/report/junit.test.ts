import { XMLParser } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import { differenceOf, sampleResult } from '../testing/sample-result.ts';
import { fleetJunit } from './junit.ts';
import type { FleetResult } from './result.ts';

const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '@' });

function suiteOf(result: FleetResult) {
  return parser.parse(fleetJunit(result)).testsuites.testsuite;
}

describe('the JUnit document of a run', () => {
  it('has the balance and the contact as passed tests', () => {
    const suite = suiteOf(sampleResult);
    expect(suite).toMatchObject({ '@tests': '2', '@failures': '0', '@skipped': '0' });
    expect(suite.testcase[0]).not.toHaveProperty('failure');
    expect(suite.testcase[1]).not.toHaveProperty('failure');
  });

  it('fails for a balance that does not hold, naming every device', () => {
    const differences = [differenceOf(1), differenceOf(2)];
    const balance = { ...sampleResult.balance, ok: false, differences };
    const suite = suiteOf({ ...sampleResult, balance });
    expect(suite['@failures']).toBe('1');
    expect(suite.testcase[0].failure['@message']).toMatch(/device 1: .*device 2: /);
  });

  it('skips a balance that was not checked', () => {
    const because = 'there was no login';
    const balance = { ...sampleResult.balance, checked: false, ok: false, because };
    const suite = suiteOf({ ...sampleResult, balance });
    expect(suite['@skipped']).toBe('1');
    expect(suite.testcase[0].skipped['@message']).toBe(because);
  });

  it('fails when no device got an answer', () => {
    const funnel = { ...sampleResult.funnel, silent: sampleResult.funnel.devices };
    expect(suiteOf({ ...sampleResult, funnel })['@failures']).toBe('1');
  });

  it('stays one well-formed document whatever a server says', () => {
    const differences = [differenceOf(1, '"/><testcase name="forged"/><a b="\u0000\u001b&')];
    const balance = { ...sampleResult.balance, ok: false, differences };
    const suite = suiteOf({ ...sampleResult, balance });
    expect(suite.testcase).toHaveLength(2);
    expect(suite.testcase[0].failure['@message']).toContain('forged');
  });
});
