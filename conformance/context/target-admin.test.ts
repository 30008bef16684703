import { describe, expect, it } from 'vitest';
import { ManualClock, type Timer } from '../../fixtures/base/clock.ts';
import { readArtifact } from '../../fixtures/formats/mender-artifact.ts';
import { contextOn } from '../testing/context-on.ts';
import { serve } from '../testing/stub-server.ts';
import { readSample, type SampleName, sampleArtifacts, sampleOfRun } from './sample-artifacts.ts';
import { AdminFailure } from './target-admin.ts';

describe('the target admin', () => {
  it.each([
    [200, 'not JSON'],
    [200, '[{"id":7}]'],
    [500, '[]'],
  ])('fails when the management API answers %i with the body %s', async (status, body) => {
    const { admin } = contextOn(await serve((_, response) => response.writeHead(status).end(body)));
    await expect(admin.findDevice({ serial: '7' })).rejects.toThrow(AdminFailure);
  });

  it('requires a Location header to learn the ID of a new deployment', async () => {
    const { admin } = contextOn(await serve((_, response) => response.writeHead(201).end()));
    const deployment = admin.deploy({ name: 'd', artifact_name: 'a', devices: [] });
    await expect(deployment).rejects.toThrow('201 without a Location');
  });

  it('accepts a resource that is already gone, and reports its absence', async () => {
    const { admin } = contextOn(await serve((_, response) => response.writeHead(404).end()));
    await expect(admin.decommission('7')).resolves.toBe(false);
    await expect(admin.abort('7')).resolves.toBeUndefined();
    await expect(admin.deleteArtifact('7')).resolves.toBe(false);
  });

  it('searches every page of the device list', async () => {
    const device = (serial: string) => ({
      id: `id-${serial}`,
      identity_data: { serial },
      status: 'pending',
      auth_sets: [],
    });
    const baseUrl = await serve((request, response) => {
      const page = new URL(request.url ?? '', 'http://host').searchParams.get('page');
      const otherDevices = Array.from({ length: 500 }, (_, index) => device(`other-${index}`));
      response.end(JSON.stringify(page === '1' ? otherDevices : [device('sought')]));
    });
    const found = await contextOn(baseUrl).admin.findDevice({ serial: 'sought' });
    expect(found?.id).toBe('id-sought');
  });
});

/** A target that answers 409 to every upload, and lists these artifacts. */
function refusingUploads(listed: readonly object[]): Promise<string> {
  return serve((request, response) => {
    request.resume();
    if (request.method === 'GET') response.end(JSON.stringify(listed));
    else response.writeHead(409).end();
  });
}

describe('a test context', () => {
  it('fails when the target refuses the artifact', async () => {
    const refused = contextOn(await refusingUploads([])).artifact('plain');
    await expect(refused).rejects.toThrow('does not accept conformance-cafe-release-1');
  });

  it('uses the artifact on the target when the response to its upload was lost', async () => {
    const { name, deviceTypes } = await sampleOfRun('plain', 'cafe');
    const listed = { id: 'kept', name, device_types_compatible: deviceTypes };
    const { id } = await contextOn(await refusingUploads([listed])).artifact('plain');
    expect(id).toBe('kept');
  });

  it('removes its resources in reverse order, and continues after a failure', async () => {
    const { created, admin } = contextOn(await serve((_, response) => response.end()));
    const removed: string[] = [];
    for (const what of ['first', 'second', 'third']) {
      created.removeAtEnd(what, async () => {
        removed.push(what);
        if (what === 'second') throw new Error('it is in use');
      });
    }
    expect(await created.release(admin)).toEqual(['second: it is in use']);
    expect(removed).toEqual(['third', 'second', 'first']);
    expect(await created.release(admin)).toEqual([]);
  });

  it('waits at most five seconds for an effect', async () => {
    const clock = new HurriedClock(0);
    const context = contextOn('http://127.0.0.1:9', clock);
    expect(
      await context.eventually(
        async () => 'never',
        (word) => word === 'now',
      ),
    ).toBe('never');
    expect(clock.now()).toBe(5000);
  });

  it('does not wait when the effect is visible already', async () => {
    const clock = new HurriedClock(0);
    const context = contextOn('http://127.0.0.1:9', clock);
    expect(
      await context.eventually(
        async () => 'now',
        (word) => word === 'now',
      ),
    ).toBe('now');
    expect(clock.now()).toBe(0);
  });
});

describe.each(Object.keys(sampleArtifacts) as SampleName[])('the sample artifact %s', (name) => {
  it('has the content that its description states', async () => {
    const sample = sampleArtifacts[name];
    const contents = await readArtifact(toStream(await readSample(name)));
    expect(contents).toMatchObject({
      name: sample.name,
      signed: sample.signed,
      sizeBytes: sample.sizeBytes,
      deviceTypesCompatible: sample.deviceTypes,
      provides: sample.provides,
      depends: sample.depends,
      clearsProvides: sample.clears,
      payloads: [{ type: sample.updateType, files: sample.files }],
    });
  });
});

describe.each(Object.keys(sampleArtifacts) as SampleName[])('the sample %s of a run', (name) => {
  it('contains the run ID in its names, as its description states', async () => {
    const sample = await sampleOfRun(name, 'cafe0123');
    const contents = await readArtifact(toStream(sample.bytes));
    expect(contents).toMatchObject({
      name: sample.name,
      signed: sample.signed,
      sizeBytes: sample.sizeBytes,
      deviceTypesCompatible: sampleArtifacts[name].deviceTypes,
      provides: sample.provides,
      depends: sample.depends,
      clearsProvides: sampleArtifacts[name].clears,
      payloads: [{ type: sample.updateType, files: sampleArtifacts[name].files }],
    });
    expect(sample.name).toBe(sampleArtifacts[name].name.replace('-', '-cafe0123-'));
    expect(sample.provides.artifact_name).toBe(sample.name);
  });
});

/** A clock on which waits end immediately. */
class HurriedClock extends ManualClock {
  override after(delayMs: number, callback: () => void): Timer {
    const timer = super.after(delayMs, callback);
    queueMicrotask(() => this.advance(delayMs));
    return timer;
  }
}

async function* toStream(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}
