import { describe, expect, it } from 'vitest';
import type { ClientExchange } from '../../fixtures/control/client-event.ts';
import { harExchanges } from '../recordings/har.ts';
import { listedExchanges } from '../recordings/journal.ts';
import { verdictsOfRecording } from './recorded-clients.ts';
import { defectiveClients } from './self-test/defective-clients.ts';
import { goodSteps } from './self-test/good-client.ts';
import { eventsOf, type Step } from './self-test/steps.ts';

function exchangesOf(steps: readonly Step[]): readonly ClientExchange[] {
  return eventsOf(steps).filter((event) => event.kind === 'exchange');
}

/** Returns the events as an HTTP archive, in which every body is text. */
function harOf(steps: readonly Step[]): string {
  const named = (list: ClientExchange['requestHeaders']) =>
    list.map(([name, value]) => ({ name, value }));
  const entries = exchangesOf(steps).map((event) => ({
    startedDateTime: new Date(event.serverNowMs - 50).toISOString(),
    time: 50,
    ...(event.alteration && { _fault: { name: 'any', alters: event.alteration } }),
    request: {
      method: event.method,
      url: event.url,
      headers: named(event.requestHeaders),
      ...(event.requestBody && { postData: { text: event.requestBody.toString() } }),
    },
    response: {
      status: event.status,
      headers: named(event.responseHeaders),
      content: { size: event.responseBody?.length, text: event.responseBody?.toString() },
    },
  }));
  return JSON.stringify({ log: { entries } });
}

async function brokenIn(steps: readonly Step[]): Promise<readonly string[]> {
  const verdicts = await verdictsOfRecording(harExchanges('script.har', harOf(steps)));
  const broken = verdicts.flatMap(({ duties }) => duties.filter(({ state }) => state === 'broken'));
  return broken.map(({ duty, violations }) => `${duty}: ${violations[0]?.message}`);
}

/** A recording does not show cuts and events of the server, so that steps with them are left out. */
const plain = (): Step[] =>
  goodSteps().filter(
    ({ label }) => !/^(d1|d2|d4|clock|expired|token after e|poll after e|last p)/.test(label),
  );

describe('the verdict on a recording', () => {
  it('finds no broken duty in the archive of a good client', async () => {
    expect(await brokenIn(plain())).toEqual([]);
  });

  it.each([
    'auth.signs-exact-bytes',
    'next.mandatory-keys',
    'alert.shape',
    'http.host',
    'report.stops-at-409',
    'get.checksum',
  ])('names %s for the archive of a client that breaks it', async (id) => {
    const { alter, consequences = [] } = defectiveClients.find(({ duty }) => duty === id) ?? {};
    const broken = await brokenIn(alter?.(plain()) ?? []);
    expect(broken.map((each) => each.split(':')[0])).toEqual([id, ...consequences]);
  });

  it('does not judge the bytes of a body when the journal stores only its value', async () => {
    const body = { id_data: '{"mac":"1"}', pubkey: 'no key' };
    const headers = [
      ['X-SVC-Signature', 'AAAA'],
      ['Host', 'api.example'],
      ['Content-Type', 'application/json'],
    ];
    const entry = {
      at: '2026-01-31T12:00:00Z',
      method: 'POST',
      status: 400,
      device: { id: 'a' },
      path: '/api/devices/v1/authentication/auth_requests',
      requestHeaders: headers,
      requestBody: body,
    };
    const [verdict] = await verdictsOfRecording(listedExchanges('a', JSON.stringify([entry])));
    const states = new Map(verdict?.duties.map(({ duty, state }) => [duty, state]));
    expect(states.get('auth.signs-exact-bytes')).toBe('not-tested');
    expect(states.get('auth.key-supported')).toBe('broken');
  });
});
