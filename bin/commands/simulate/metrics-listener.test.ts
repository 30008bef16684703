import { afterEach, describe, expect, it } from 'vitest';
import { FleetMetrics } from '../../../simulator/report/prometheus.ts';
import { sampleProgress } from '../../../simulator/testing/sample-result.ts';
import { listenForScrapes, type MetricsListener } from './metrics-listener.ts';

const anywhere = { address: '127.0.0.1', port: 0 };
const closers: MetricsListener[] = [];
afterEach(async () => {
  for (const listener of closers.splice(0)) await listener.close();
});

async function listening(metrics = new FleetMetrics()): Promise<MetricsListener> {
  const listener = await listenForScrapes(anywhere, () => metrics.exposition());
  closers.push(listener);
  return listener;
}

describe('the metrics listener of a fleet', () => {
  it('answers a scrape in the text format', async () => {
    const metrics = new FleetMetrics();
    metrics.recordProgress({ ...sampleProgress, stage: 'ramp' });
    const response = await fetch((await listening(metrics)).url);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await response.text()).toContain('fleetbed_stage{stage="ramp"} 1\n');
  });

  it('answers no other path or method', async () => {
    const { url } = await listening();
    expect((await fetch(new URL('/', url))).status).toBe(404);
    expect((await fetch(`${url}/`)).status).toBe(404);
    expect((await fetch(`${url}?x=1`)).status).toBe(200);
    const posted = await fetch(url, { method: 'POST' });
    expect(posted.status).toBe(405);
    expect(posted.headers.get('allow')).toBe('GET, HEAD');
    expect(await (await fetch(url, { method: 'HEAD' })).text()).toBe('');
  });

  it('is closed completely, even while a scraper keeps a connection open', async () => {
    const listener = await listening();
    await fetch(listener.url);
    await listener.close();
    await expect(fetch(listener.url)).rejects.toThrow();
  });

  it.each([
    ['taken already', () => new URL(closers[0]?.url ?? '').port, '127.0.0.1', 'another program'],
    ['of another machine', () => '0', '192.0.2.1', 'this machine does not have that address'],
  ])('refuses its address in one sentence when it is %s', async (_what, port, address, said) => {
    await listening();
    const listen = listenForScrapes({ address, port: Number(port()) }, () =>
      new FleetMetrics().exposition(),
    );
    await expect(listen).rejects.toMatchObject({ exitCode: 3 });
    await expect(listen).rejects.toThrow(said);
  });
});
