import { afterEach, expect, it, vi } from 'vitest';
import { serveEndpoint, startPipeline } from '../testing/test-pipeline.ts';

const part = 'x'.repeat(64 * 1024);
const PARTS = 40;

afterEach(() => vi.restoreAllMocks());

function* parts(): Generator<string> {
  for (let count = 0; count < PARTS; count += 1) yield part;
}

it('a long body whose reader pauses arrives complete and leaves no listeners behind', async () => {
  const warnings = vi.spyOn(process, 'emitWarning');
  const test = await startPipeline();
  const operation = {
    id: 'long',
    method: 'GET',
    path: '/long',
    summary: 'Send a long text.',
    authorization: 'signature',
    success: { 200: { mediaType: 'text/plain' } },
    refusals: [],
    heading: 'Audit logs',
  } as const;
  const handle = () => ({ status: 200, body: parts() });
  const { baseUrl, close } = await serveEndpoint(test, { operation, handle });
  try {
    const text = await (await fetch(`${baseUrl}/long`)).text();
    expect(text).toHaveLength(PARTS * part.length);
    expect(warnings).not.toHaveBeenCalled();
  } finally {
    await close();
    test.close();
  }
});
