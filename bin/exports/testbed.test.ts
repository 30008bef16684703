import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { acceptedIn } from '../../server/testing/test-testbed.ts';
import { ClientViolationsError, startTestbed, type Testbed } from './testbed.ts';

let testbed: Testbed;
let device: Awaited<ReturnType<typeof acceptedIn>>;

beforeEach(async () => {
  testbed = await startTestbed({ seed: 'judged' });
  device = await acceptedIn(testbed, testbed, 'one');
});
afterEach(() => testbed.close());

const { path } = operations['post-next-deployment'];

function poll(data: object): Promise<Response> {
  return fetch(testbed.baseUrl + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${device.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(data),
  });
}

async function dutyNamed(name: string) {
  const duties = await testbed.client(device.id).duties();
  return duties.find(({ duty }) => duty === name);
}

describe('a client of the embedded testbed', () => {
  it('meets the duties that its requests show, by its ID and by its identity', async () => {
    expect(await dutyNamed('auth.signs-exact-bytes')).toMatchObject({
      state: 'met',
      violations: [],
    });
    const named = await testbed.client('one').duties();
    expect(named).toEqual(await testbed.client(device.id).duties());
  });

  it('breaks a duty, which is shown with the request, its entry and the remedy', async () => {
    await poll({ device_type: 'board', artifact_name: 7 });
    const broken = await dutyNamed('next.mandatory-keys');
    expect(broken).toMatchObject({
      state: 'broken',
      violationCount: 1,
      violations: [{ operation: 'post-next-deployment', request: `POST ${path} -> 400` }],
    });
    const client = testbed.client(device.id);
    await expect(client.expectNoViolations()).rejects.toThrow(ClientViolationsError);
    await expect(client.expectNoViolations()).rejects.toThrow(/remedy: /);
  });

  it('has no violation after ordinary requests, and a next step for each untested duty', async () => {
    await poll({ device_type: 'board', artifact_name: 'release-1' });
    await testbed.client(device.id).expectNoViolations();
    const abort = await dutyNamed('report.stops-at-409');
    expect(abort).toMatchObject({
      state: 'not-tested',
      next: { call: { operation: 'POST /faults' } },
    });
    expect(abort?.next?.command).toContain(device.id);
  });

  it('causes an error in `expectNoViolations` when it has sent no request', async () => {
    await expect(testbed.client('nobody').expectNoViolations()).rejects.toThrow(
      'client nobody: no device has this ID or identity value',
    );
  });
});
